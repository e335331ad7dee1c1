package funcs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// textFunc returns a function from one string to another.
func textFunc(description string, f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params:      []function.Parameter{{Name: "text", Type: cty.String}},
		Type:        function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			s, err := f(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return cty.StringVal(s), nil
		},
	})
}

// testFunc returns a predicate of two strings.
func testFunc(description, second string, f func(text, part string) bool) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params: []function.Parameter{
			{Name: "text", Type: cty.String},
			{Name: second, Type: cty.String},
		},
		Type: function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(f(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

var (
	startsWithFunc   = testFunc("Whether text begins with prefix.", "prefix", strings.HasPrefix)
	endsWithFunc     = testFunc("Whether text ends with suffix.", "suffix", strings.HasSuffix)
	containsTextFunc = testFunc("Whether part occurs in text.", "part", strings.Contains)

	baseNameFunc = textFunc("Last element of a slash-separated path.", func(s string) (string, error) {
		return path.Base(s), nil
	})
	dirNameFunc = textFunc("A slash-separated path without its last element.", func(s string) (string, error) {
		return path.Dir(s), nil
	})
	urlEncodeFunc = textFunc("Text escaped for a URL's query.", func(s string) (string, error) {
		return url.QueryEscape(s), nil
	})
	sha256Func = textFunc("SHA-256 of the text's UTF-8 bytes, in lower-case hex.", func(s string) (string, error) {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:]), nil
	})
	base64EncodeFunc = textFunc("The text's UTF-8 bytes in standard base64.", func(s string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(s)), nil
	})
	base64DecodeFunc = textFunc("The text encoded in standard base64.", func(s string) (string, error) {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return "", err
		}
		if !utf8.Valid(b) {
			return "", errors.New("the decoded bytes are not UTF-8 text")
		}
		return string(b), nil
	})
)
