package fakeuv

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Directive is the instruction of a "# fake-session:" comment. Unless it ends the process, the run continues.
//
//	exit N            end without reports, as os._exit does
//	kill              end by SIGKILL
//	sleep SECONDS     sleep
//	listen PORT       listen on that port of 127.0.0.1 for a second; if that fails, end without reports
//	print MEGABYTES   print that much
//	write FILE TEXT   write a file in the workspace
//	collect-error     fail to import the test files
//	truncate-report   write half of each report
//	no-report         write no report
//	fill-report MEGABYTES  add that much of empty tests to the plugin's report
//	oserror TEXT      print TEXT and end with exit code 1, before any report
type Directive string

// obey executes the directive.
func (d Directive) obey(reports *reportFiles) {
	words := strings.Fields(string(d))
	number := 0
	if len(words) > 1 {
		number, _ = strconv.Atoi(words[1])
	}
	switch words[0] {
	case "exit":
		os.Exit(number)
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			fail(3, "error: %v", err)
		}
		select {}
	case "sleep":
		time.Sleep(time.Duration(number) * time.Second)
	case "listen":
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", words[1]))
		if err != nil {
			fail(1, "E   OSError: %v", err)
		}
		time.Sleep(time.Second)
		l.Close()
	case "print":
		megabyte := bytes.Repeat([]byte(strings.Repeat("x", 63)+"\n"), 1<<14)
		for range number {
			os.Stdout.Write(megabyte)
		}
	case "write":
		if err := os.WriteFile(words[1], []byte(strings.Join(words[2:], " ")+"\n"), 0o644); err != nil {
			fail(3, "error: %v", err)
		}
	case "truncate-report":
		reports.half = true
	case "no-report":
		reports.none = true
	case "fill-report":
		reports.fill = number << 20
	case "oserror":
		fmt.Println(strings.Join(words[1:], " "))
		os.Exit(1)
	case "collect-error":
	default:
		fail(2, "error: the stand-in for pytest does not know the directive %q", d)
	}
}
