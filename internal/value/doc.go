// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package value parses what people write into closed types of package model. In goes text of annotations, of the settings or of an object that they name; out
// comes a value, or an error that says what is wrong with the text in words that fit behind "the value …". Nothing passes that is
// not wholly understood: no function filters, and none panics. All are pure.
//
// Which key takes which value is said in packages annotation and settings.
package value
