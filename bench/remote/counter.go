package main

import (
	"net"
	"sync/atomic"
)

// counter forwards connections and counts bytes.
type counter struct {
	address        string
	sent, received atomic.Int64 // sent and received by clients
}

func newCounter(to string) (*counter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &counter{address: listener.Addr().String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			go pass(server, client, &c.sent)
			go pass(client, server, &c.received)
		}
	}()
	return c, nil
}

func pass(to, from net.Conn, count *atomic.Int64) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		count.Add(int64(n))
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}
