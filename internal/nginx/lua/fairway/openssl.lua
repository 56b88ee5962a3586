-- SPDX-FileCopyrightText: The Fairway Authors
-- SPDX-License-Identifier: Apache-2.0

-- What ngx.ssl lacks of OpenSSL, called directly: nginx links it, so its functions are in this process. `available` is false when one of
-- them is missing; then nothing else here may be called, and hosts that need it are closed.

local ffi = require "ffi"
local base = require "resty.core.base"
local ssl = require "ngx.ssl"

local C = ffi.C

local M = { available = false }

-- Pointers are void *, so that these declarations can't contradict those of other libraries.
local declared, fault = pcall(ffi.cdef, [[
    void *ngx_http_lua_ffi_get_req_ssl_pointer(void *r);

    int SSL_set_session_id_context(void *ssl, const char *context, unsigned int length);
    void *SSL_get_session(const void *ssl);
    const char *SSL_SESSION_get0_id_context(const void *session, unsigned int *length);
    int SSL_SESSION_set1_id_context(void *session, const char *context, unsigned int length);
    void *SSL_get_SSL_CTX(const void *ssl);
    long SSL_CTX_ctrl(void *ctx, int command, long number, void *pointer);
    int SSL_CTX_set_tlsext_ticket_key_evp_cb(void *ctx, void *callback);
    int SSL_set_cipher_list(void *ssl, const char *list);
    uint64_t SSL_set_options(void *ssl, uint64_t options);
    uint64_t SSL_clear_options(void *ssl, uint64_t options);
    long SSL_ctrl(void *ssl, int command, long number, void *pointer);
    long SSL_get_verify_result(const void *ssl);
    void SSL_set_verify_result(void *ssl, long result);
    void *SSL_get1_peer_certificate(const void *ssl);
    void *SSL_get_peer_cert_chain(const void *ssl);
    void *SSL_dup_CA_list(const void *names);
    void SSL_set_client_CA_list(void *ssl, void *names);

    void *BIO_new_mem_buf(const void *text, int length);
    int BIO_free(void *bio);
    void *PEM_read_bio_X509(void *bio, void *into, void *callback, void *argument);
    void *PEM_read_bio_X509_CRL(void *bio, void *into, void *callback, void *argument);
    void X509_free(void *certificate);
    void X509_CRL_free(void *list);
    void *X509_get_subject_name(const void *certificate);
    void *X509_NAME_dup(const void *name);
    void *OPENSSL_sk_new_null(void);
    int OPENSSL_sk_push(void *stack, const void *item);

    void OPENSSL_sk_pop_free(void *stack, void (*free)(void *item));
    void X509_NAME_free(void *name);
    void *X509_STORE_new(void);
    void X509_STORE_free(void *store);
    int X509_STORE_add_cert(void *store, void *certificate);
    int X509_STORE_add_crl(void *store, void *list);
    int X509_STORE_set_flags(void *store, unsigned long flags);
    void *X509_STORE_CTX_new(void);
    void X509_STORE_CTX_free(void *context);
    int X509_STORE_CTX_init(void *context, void *store, void *certificate, void *chain);
    int X509_STORE_CTX_set_default(void *context, const char *name);
    void X509_STORE_CTX_set_depth(void *context, int depth);
    int X509_verify_cert(void *context);
    void ERR_clear_error(void);
]])

local SERVER_PREFERENCE = 0x00400000   -- SSL_OP_CIPHER_SERVER_PREFERENCE
local SET_VERIFY_CERT_STORE = 106      -- SSL_CTRL_SET_VERIFY_CERT_STORE
local CRL_CHECK_ALL = 0x4 + 0x8        -- X509_V_FLAG_CRL_CHECK, X509_V_FLAG_CRL_CHECK_ALL, as nginx does

local SET_TICKET_KEYS = 59             -- SSL_CTRL_SET_TLSEXT_TICKET_KEYS

local length = ffi.new("unsigned int[1]")

-- Looks each function up once, which fails when this nginx has none of that name.
local function look_up()
    for _, name in ipairs {
        "ngx_http_lua_ffi_get_req_ssl_pointer", "SSL_set_session_id_context", "SSL_get_session", "SSL_SESSION_get0_id_context",
        "SSL_SESSION_set1_id_context", "SSL_set_cipher_list", "SSL_set_options", "SSL_clear_options", "SSL_ctrl", "SSL_get_verify_result",
        "SSL_set_verify_result", "SSL_get1_peer_certificate", "SSL_get_peer_cert_chain", "SSL_dup_CA_list", "SSL_set_client_CA_list",
        "BIO_new_mem_buf", "BIO_free", "PEM_read_bio_X509", "PEM_read_bio_X509_CRL", "X509_free", "X509_CRL_free", "X509_get_subject_name",
        "X509_NAME_dup", "OPENSSL_sk_new_null", "OPENSSL_sk_push", "OPENSSL_sk_pop_free", "X509_NAME_free", "X509_STORE_new", "X509_STORE_free",
        "X509_STORE_add_cert", "X509_STORE_add_crl", "X509_STORE_set_flags", "X509_STORE_CTX_new", "X509_STORE_CTX_free", "X509_STORE_CTX_init",
        "X509_STORE_CTX_set_default", "X509_STORE_CTX_set_depth", "X509_verify_cert", "ERR_clear_error",
        "SSL_get_SSL_CTX", "SSL_CTX_ctrl", "SSL_CTX_set_tlsext_ticket_key_evp_cb",
    } do
        local _ = C[name]
    end
end

if declared then
    M.available, fault = pcall(look_up)
end
if not M.available then
    ngx.log(ngx.ERR, "client certificates can't be verified, their hosts are closed: ", fault)
end

-- Gives the SSL of the connection that this handshake or request is of, or nil.
function M.of_request()
    local r = base.get_request()
    local s = r and C.ngx_http_lua_ffi_get_req_ssl_pointer(r)
    if s ~= nil then
        return s
    end
end

-- Binds sessions of this handshake to a context, at most 32 bytes: they are only resumed by handshakes of the same.
function M.set_context(s, context)
    return C.SSL_set_session_id_context(s, context, #context) == 1
end

-- Gives the context of the connection's session.
function M.context(s)
    local session = C.SSL_get_session(s)
    if session == nil then
        return ""
    end
    return ffi.string(C.SSL_SESSION_get0_id_context(session, length), length[0])
end

-- Sets the ciphers of TLS 1.2. Tells whether the list leaves one.
function M.set_ciphers(s, list)
    local ok = C.SSL_set_cipher_list(s, list) == 1
    C.ERR_clear_error()
    return ok
end

-- Makes the listener of this handshake encrypt tickets with a key of 80 bytes, instead of the one that nginx made. Tells whether it does.
-- Which server block a name leads to does not matter: OpenSSL takes the key of the listener's first.
function M.set_ticket_key(s, key)
    local ctx = C.SSL_get_SSL_CTX(s)
    C.SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, nil) -- newer nginx has keys of its own there
    return C.SSL_CTX_ctrl(ctx, SET_TICKET_KEYS, #key, ffi.cast("void *", key)) == 1
end

-- Gives what stands for the listener of this handshake as the key of a table.
function M.listener(s)
    return tonumber(ffi.cast("uintptr_t", C.SSL_get_SSL_CTX(s)))
end

function M.prefer_server(s, server)
    if server then
        C.SSL_set_options(s, SERVER_PREFERENCE)
    else
        C.SSL_clear_options(s, SERVER_PREFERENCE)
    end
end

-- Calls `use` with each object that `read` finds in a PEM text, and gives how many there were.
local function each(text, read, use, free)
    local bio = C.BIO_new_mem_buf(text, #text)
    local count, ok = 0, true
    while ok do
        local object = read(bio, nil, nil, nil)
        if object == nil then
            break
        end
        count = count + 1
        ok = use(object)
        free(object)
    end
    C.BIO_free(bio)
    C.ERR_clear_error() -- the end of the text is an error to OpenSSL
    return ok and count or 0
end

local function free_names(names)
    C.OPENSSL_sk_pop_free(names, C.X509_NAME_free)
end

-- Gives what certificates are verified with: the authorities and revocation lists of PEM texts, the second may be nil; nil when the texts
-- hold nothing. Handshakes hold on to it of themselves.
function M.trust(authorities, revocations)
    local trust = { store = ffi.gc(C.X509_STORE_new(), C.X509_STORE_free), names = ffi.gc(C.OPENSSL_sk_new_null(), free_names) }
    local count = each(authorities, C.PEM_read_bio_X509, function(certificate)
        return C.X509_STORE_add_cert(trust.store, certificate) == 1
            and C.OPENSSL_sk_push(trust.names, C.X509_NAME_dup(C.X509_get_subject_name(certificate))) > 0
    end, C.X509_free)
    if count == 0 then
        return nil
    end
    if revocations then
        count = each(revocations, C.PEM_read_bio_X509_CRL, function(list)
            return C.X509_STORE_add_crl(trust.store, list) == 1
        end, C.X509_CRL_free)
        if count == 0 then
            return nil
        end
        C.X509_STORE_set_flags(trust.store, CRL_CHECK_ALL)
    end
    return trust
end

-- Makes the handshake ask for a certificate and verify it, whatever comes of it. For ssl_certificate_by_lua.
function M.ask(s, trust, depth)
    local ok, err = ssl.verify_client(nil, depth)
    if not ok then
        return nil, err
    end
    if C.SSL_ctrl(s, SET_VERIFY_CERT_STORE, 1, trust.store) ~= 1 then
        return nil, "the authorities are not taken"
    end
    C.SSL_set_client_CA_list(s, C.SSL_dup_CA_list(trust.names))
    return true
end

-- Gives what came of the verification: 0, or OpenSSL's number of an error. It is 0 too when there was no certificate.
function M.result(s)
    return tonumber(C.SSL_get_verify_result(s))
end

-- Verifies the certificate of an open connection anew and, if that succeeds, moves its session to another context. Tells whether it did.
function M.verify_again(s, trust, depth, context)
    local certificate = C.SSL_get1_peer_certificate(s)
    if certificate == nil then
        return false
    end
    local verification = C.X509_STORE_CTX_new()
    local ok = C.X509_STORE_CTX_init(verification, trust.store, certificate, C.SSL_get_peer_cert_chain(s)) == 1
        and C.X509_STORE_CTX_set_default(verification, "ssl_client") == 1
    if ok then
        C.X509_STORE_CTX_set_depth(verification, depth)
        ok = C.X509_verify_cert(verification) == 1
    end
    C.X509_STORE_CTX_free(verification)
    C.X509_free(certificate)
    C.ERR_clear_error()
    if ok then
        C.SSL_set_verify_result(s, 0)
        C.SSL_SESSION_set1_id_context(C.SSL_get_session(s), context, #context)
    end
    return ok
end

return M
