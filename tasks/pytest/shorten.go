package pytest

import (
	"bufio"
	"errors"
	"io"
)

// stringLimits are limits of the strings in a stored report, in bytes. The first is the limit of a message
// in results; the others are tried for a report that is still too large.
var stringLimits = []int{maxMessage, maxMessage / 4, maxMessage / 16, maxMessage / 64}

// mostRead is the maximum number of bytes that are read from a report.
const mostRead = 1 << 30

// shortenStrings copies a JSON text and removes the middle of strings that are longer than limit. It
// returns errReportTooLarge if more than maxReport bytes remain.
func shortenStrings(r io.Reader, limit int) ([]byte, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, mostRead+1), 64<<10)
	var out, head, last, tail []byte
	read, inside, dropped := 0, false, false
	for {
		c, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			return append(append(append(out, head...), last...), tail...), nil
		}
		if err != nil {
			return nil, err
		}
		if read++; read > mostRead || len(out) > maxReport {
			return nil, errReportTooLarge
		}
		switch {
		case !inside:
			out = append(out, c)
			inside = c == '"'
			continue
		case c == '"':
			out = append(out, head...)
			if dropped {
				out = append(out, `\n[...]\n`...)
			}
			out = append(append(append(out, last...), tail...), c)
			head, last, tail, inside, dropped = head[:0], last[:0], tail[:0], false, false
			continue
		}
		// Escape sequences such as \n and \u00e9 are kept or removed as a whole.
		element := [6]byte{c}
		n := 1
		if c == '\\' {
			for more := 1; n <= more; n++ {
				if element[n], err = in.ReadByte(); err != nil {
					break // end of the text, handled above
				}
				if n == 1 && element[n] == 'u' {
					more = 5
				}
			}
			read += n - 1
		}
		switch {
		case len(tail) == 0 && len(last) == 0 && len(head) < limit/2:
			head = append(head, element[:n]...)
		case len(tail) < limit/4:
			tail = append(tail, element[:n]...)
		default:
			dropped = dropped || len(last) > 0
			last, tail = tail, append(last[:0], element[:n]...)
		}
	}
}
