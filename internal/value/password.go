// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Verifying a password keeps a worker of nginx, which others need too, from its work. So hashes that take longer than some 0.2 s are refused.
const (
	maxBcryptCost = 12
	maxSHARounds  = 500_000
)

var (
	bcryptForm   = regexp.MustCompile(`^\$2[aby]\$(\d\d)\$[./0-9A-Za-z]{53}$`)
	shaForm      = regexp.MustCompile(`^\$(5|6)\$(?:rounds=(\d{1,9})\$)?[^$]{0,16}\$([./0-9A-Za-z]+)$`)
	md5Form      = regexp.MustCompile(`^\$(?:apr1|1)\$[^$]{0,8}\$[./0-9A-Za-z]{22}$`)
	yescryptForm = regexp.MustCompile(`^\$y\$(j..)\$[./0-9A-Za-z]{1,86}\$[./0-9A-Za-z]{43}$`)
	desForm      = regexp.MustCompile(`^[./0-9A-Za-z]{13}$`)
	// yescryptCosts are the cost factors 1 to 7 of crypt_gensalt(3); 5 is usual.
	yescryptCosts = []string{"j75", "j85", "j95", "jA5", "j9T", "jAT", "jBT"}
)

// checkHash tells what is wrong with a hash of a password. Errors do not repeat it.
func checkHash(hash string) error {
	switch {
	case strings.HasPrefix(hash, "{PLAIN}"):
		return nil
	case strings.HasPrefix(hash, "{SHA}"):
		return checkSHA1(hash[len("{SHA}"):], 20, 20)
	case strings.HasPrefix(hash, "{SSHA}"):
		return checkSHA1(hash[len("{SSHA}"):], 20, 512)
	case md5Form.MatchString(hash), desForm.MatchString(hash):
		return nil
	}
	if found := bcryptForm.FindStringSubmatch(hash); found != nil {
		if cost, _ := strconv.Atoi(found[1]); cost > maxBcryptCost {
			return fmt.Errorf("has a bcrypt hash of cost %d, which takes too long to verify; %d is the most", cost, maxBcryptCost)
		}
		return nil
	}
	if found := shaForm.FindStringSubmatch(hash); found != nil && len(found[3]) == map[string]int{"5": 43, "6": 86}[found[1]] {
		if rounds, _ := strconv.Atoi(found[2]); rounds > maxSHARounds {
			return fmt.Errorf("has a hash of %d rounds, which takes too long to verify; %d is the most", rounds, maxSHARounds)
		}
		return nil
	}
	if found := yescryptForm.FindStringSubmatch(hash); found != nil {
		if !slices.Contains(yescryptCosts, found[1]) {
			return errors.New("has a yescrypt hash that takes too long to verify")
		}
		return nil
	}
	return errors.New("has no hash of a form that nginx or crypt(3) verifies: bcrypt, apr1, SHA-2, yescrypt, MD5, DES, {SHA}, {SSHA} or {PLAIN}")
}

// checkSHA1 looks at the base64 text of a hash, which may be followed by its salt. nginx trusts the length.
func checkSHA1(text string, least, most int) error {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(decoded) < least || len(decoded) > most {
		return errors.New("has a SHA-1 hash that is no base64 text of the right length")
	}
	return nil
}
