package lang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// Bounds on the text of a configuration. The parser and the evaluator recurse, and Go ends
// the process when a stack is full.
const (
	maxNesting = 500   // brackets and templates inside each other
	maxChain   = 5_000 // operators of one expression
)

// parseConfig parses a file if its text is within the bounds.
func parseConfig(text []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if problem := checkBounds(hclsyntax.LexConfig(text, name, hcl.InitialPos)); problem != nil {
		return nil, hcl.Diagnostics{problem}
	}
	return hclsyntax.ParseConfig(text, name, hcl.InitialPos)
}

// parseExpression parses an expression if its text is within the bounds.
func parseExpression(text []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	if problem := checkBounds(hclsyntax.LexExpression(text, name, hcl.InitialPos)); problem != nil {
		return nil, hcl.Diagnostics{problem}
	}
	return hclsyntax.ParseExpression(text, name, hcl.InitialPos)
}

// checkBounds returns the first token that exceeds a bound. The parser reports errors of
// the lexer.
func checkBounds(tokens hclsyntax.Tokens, _ hcl.Diagnostics) *hcl.Diagnostic {
	type level struct {
		lines bool // a line break ends an expression
		chain int  // operators of the current expression
	}
	levels := []level{{lines: true}}
	for i := range tokens {
		t := &tokens[i]
		top := &levels[len(levels)-1]
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl,
			hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			top.chain++ // an index, or a call
			if levels = append(levels, level{lines: t.Type == hclsyntax.TokenOBrace}); len(levels) > maxNesting {
				return outOfBounds(t, "Nested too deeply", fmt.Sprintf("More than %d brackets are open here.", maxNesting))
			}
			top = &levels[len(levels)-2]
		case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
			}
			continue
		case hclsyntax.TokenComma:
			top.chain = 0
		case hclsyntax.TokenNewline:
			if top.lines {
				top.chain = 0
			}
		case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenBang,
			hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
			hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenQuestion, hclsyntax.TokenDot:
			top.chain++
		case hclsyntax.TokenNumberLit:
			if isHugeNumber(string(t.Bytes)) {
				return outOfBounds(t, "Number out of range", fmt.Sprintf("Numbers have %d digits at most, and exponents up to %d.", maxDigits, funcs.MaxExponent))
			}
		}
		if top.chain > maxChain {
			return outOfBounds(t, "Expression too long", fmt.Sprintf("It has more than %d operators.", maxChain))
		}
	}
	return nil
}

// maxDigits limits the text of a number.
const maxDigits = 1000

// isHugeNumber reports whether a number's text is beyond the bounds: printing it could
// exhaust memory.
func isHugeNumber(text string) bool {
	mantissa, exponent, found := strings.Cut(strings.ToLower(text), "e")
	if len(mantissa) > maxDigits {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return found && (err != nil || max(n, -n) > funcs.MaxExponent)
}

func outOfBounds(t *hclsyntax.Token, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &t.Range}
}
