package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// pathOf joins names by "/", injectively. It omits empty names, such as that of a nameless checkpoint.
func pathOf(names ...string) string {
	joined := ""
	for _, name := range names {
		switch {
		case name == "":
		case joined == "":
			joined = escape(name, "/")
		default:
			joined += "/" + escape(name, "/")
		}
	}
	return joined
}

// escape encodes "%" and the special characters in a name as "%" and two hexadecimal digits. The quoted
// key of an instance, as in agent["a/b"], stays unchanged: the quotes show where the key ends. Other
// quotes are escaped, too.
func escape(name, special string) string {
	if !strings.ContainsAny(name, special+`%"`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if key := quotedKey(name[i:]); key != "" {
			b.WriteString(key)
			i += len(key) - 1
		} else if c == '%' || c == '"' || strings.IndexByte(special, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quotedKey returns the key, with its brackets, at the start of text, or "".
func quotedKey(text string) string {
	if !strings.HasPrefix(text, `["`) {
		return ""
	}
	key, err := strconv.QuotedPrefix(text[1:])
	if end := 1 + len(key); err == nil && end < len(text) && text[end] == ']' {
		return text[:end+1]
	}
	return ""
}
