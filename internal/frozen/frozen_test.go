package frozen

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

type leaf struct {
	Name string
	Next *leaf
}

type tree struct {
	Flag    bool
	Small   int8
	Large   int64
	Count   uint32
	Ratio   float64
	Hash    [4]byte
	Texts   []string
	None    []string
	Empty   []int
	Bytes   []byte
	Named   map[string]int
	NoNames map[string]int
	Leaves  []*leaf
	First   *leaf
	Nil     *leaf
	Inner   struct{ A, B string }
}

func sample() *tree {
	shared := &leaf{Name: "shared"}
	shared.Next = shared // a circle
	t := &tree{Flag: true, Small: -128, Large: math.MinInt64, Count: math.MaxUint32, Ratio: math.Inf(-1), Hash: [4]byte{0, 255, 1, 128},
		Texts: []string{"", "a", "a", "\xff\x00"}, Empty: []int{}, Bytes: []byte{0, 255}, Named: map[string]int{"b": 2, "a": 1}, Leaves: []*leaf{shared, {Name: "other"}, shared}, First: shared}
	t.Inner.A, t.Inner.B = "a", "shared"
	return t
}

func TestFrozen(t *testing.T) {
	want := sample()
	b, err := Append([]byte("before"), want)
	if err != nil {
		t.Fatal(err)
	}
	var got tree
	if err := Decode(b[len("before"):], &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got.First != got.Leaves[0] || got.First != got.Leaves[2] || got.First.Next != got.First {
		t.Error("what was one is several")
	}
	if got.Empty == nil || got.None != nil || got.NoNames != nil {
		t.Error("empty and absent are mixed up")
	}
	again, err := Append(nil, &got)
	if err != nil || !slices.Equal(again, b[len("before"):]) {
		t.Errorf("the copy is written otherwise (%v)", err)
	}
}

func TestNotFrozen(t *testing.T) {
	type hidden struct{ a int }
	for name, v := range map[string]any{
		"a field that is not exported":  &hidden{1},
		"an interface":                  &struct{ A any }{1},
		"a function":                    &struct{ F func() }{},
		"keys of other types than text": &map[int]int{},
	} {
		if _, err := Append(nil, v); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// Damage is an error or another value, and ends soon.
func TestDamage(t *testing.T) {
	b, err := Append(nil, sample())
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(b) * 8 {
		damaged := slices.Clone(b)
		damaged[i/8] ^= 1 << (i % 8)
		_ = Decode(damaged, new(tree))
	}
	for n := range b {
		if Decode(b[:n], new(tree)) == nil {
			t.Errorf("%d of %d bytes were taken for all", n, len(b))
		}
	}
	if Decode(append(b, 0), new(tree)) == nil {
		t.Error("a byte too many was not noticed")
	}
}

func FuzzDecode(f *testing.F) {
	b, err := Append(nil, sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Fuzz(func(_ *testing.T, b string) { _ = Decode([]byte(b), new(tree)) })
}
