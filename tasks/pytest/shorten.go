package pytest

import (
	"bufio"
	"errors"
	"io"
)

// stringLimits bound the texts of a stored report, in bytes. The first is the bound of a message in results;
// the others are tried for a report that is still too large.
var stringLimits = []int{maxMessage, maxMessage / 4, maxMessage / 16, maxMessage / 64}

// mostRead bounds what is read of a report.
const mostRead = 1 << 30

// shortenStrings copies a JSON text and leaves out the middle of strings that are longer
// than limit. More than maxReport bytes are errReportTooLarge.
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
		// What belongs together is kept or left out as one: \n, \u00e9.
		element := [6]byte{c}
		n := 1
		if c == '\\' {
			for more := 1; n <= more; n++ {
				if element[n], err = in.ReadByte(); err != nil {
					break // the text ends, which is found above
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
