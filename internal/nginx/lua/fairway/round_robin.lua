-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- A balancing algorithm takes a backend (see store.lua) with at least one endpoint and gives one of its endpoints. It may keep its state
-- in the backend, which lives until the backend's endpoints change and is private to this worker. Further
-- algorithms: a file each, chosen in balancer.lua.

-- Round robin: one after the other; workers begin at different places.
return function(backend)
    local endpoints = backend.e
    local position = backend.position % #endpoints + 1
    backend.position = position
    return endpoints[position]
end
