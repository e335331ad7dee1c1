package lightcp

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Any answer of the server gives a judged result or an error with a reason, and survives being written again.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"status":"done","passed":true,"result":"Accepted","score":100,"scoreUnbounded":null,"cases":[{"ok":true,"status":"Correct","time":1,"memory":2,"scoreRatio":1}]}`))
	f.Add([]byte(`{"status":"error","message":"compile"}`))
	f.Add([]byte(`{"status":"queued"}`))
	f.Add([]byte(`{"status":"done","cases":[null,{"ok":false,"scoreRatio":0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decodeResult(text)
		if err != nil {
			return
		}
		if r.Status != Done && r.Status != Failed || r.Status == Failed && r.Error == "" {
			t.Errorf("%+v", r)
		}
		for i := range r.Cases {
			if c := &r.Cases[i]; c.Silent() && c.OK {
				t.Errorf("%+v", c)
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeResult(again)
		if len(r.Cases) == 0 && err == nil { // missing and empty lists are equal
			r.Cases, back.Cases = nil, nil
		}
		if err != nil || !reflect.DeepEqual(r, back) {
			t.Errorf("%v: %+v, then %+v", err, r, back)
		}
	})
}
