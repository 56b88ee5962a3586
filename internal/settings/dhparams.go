// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"

	"github.com/fairway-ingress/fairway/internal/model"
)

// dhParamKey is where a Secret has the parameters.
const dhParamKey = "dhparam.pem"

// OpenSSL refuses fewer bits; more take a client seconds.
const leastDHBits, mostDHBits = 2048, 8192

// readDHParams takes the parameters of the key exchange out of a Secret. The message has a place for its name.
func readDHParams(s *model.Settings, data map[string][]byte) (reason, message string) {
	const without = "; there are no ciphers DHE-*"
	if data == nil {
		return model.ReasonMissingSecret, "there is no %s, or it may not be read" + without
	}
	params, err := parseDHParams(data[dhParamKey])
	if err != nil {
		return model.ReasonInvalidSetting, dhParamKey + " of %s " + err.Error() + without
	}
	s.TLS.DHParams = params
	return "", ""
}

// parseDHParams reads PEM of the parameters p and g (PKCS #3), and gives just them.
func parseDHParams(text []byte) (string, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "DH PARAMETERS" {
		return "", errors.New("has no PEM block DH PARAMETERS; make one with: openssl dhparam 2048")
	}
	var params struct {
		P, G   *big.Int
		Length int `asn1:"optional"`
	}
	if rest, err := asn1.Unmarshal(block.Bytes, &params); err != nil || len(rest) > 0 || params.G.Cmp(big.NewInt(1)) <= 0 || params.G.Cmp(params.P) >= 0 {
		return "", errors.New("has a block that holds no such parameters")
	}
	if bits := params.P.BitLen(); bits < leastDHBits || bits > mostDHBits || params.P.Bit(0) == 0 {
		return "", fmt.Errorf("has parameters of %d bits, not of %d to %d", bits, leastDHBits, mostDHBits)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})), nil
}
