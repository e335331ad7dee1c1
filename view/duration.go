package view

import "github.com/fevalgraph/fevalgraph/report/text"

// Duration shows seconds as a person says them: "80ms", "12.4s", "3m10s",
// "2h05m". What is not a duration is "?".
func Duration(seconds float64) string { return text.Duration(seconds) }
