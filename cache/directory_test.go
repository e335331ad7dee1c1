package cache

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The bytes below are the output of the official Go stubs of the Remote Execution API
// (github.com/bazelbuild/remote-apis at 76ddd98e1f92), with proto.MarshalOptions{Deterministic: true}, for the tree of
// goldenEntries.
var goldenDirectories = []struct{ path, digest, encoded string }{
	{"sub/deep", "edfc9b7d0d2397ce97138958092a503ad285bded924b900e43d1eabb0ae2a164/79",
		"" +
			"0a4d0a0362696712460a4062636130396634613735376435353731633764396633333431643433303166336333393163303930383236616363316133" +
			"30313363366263623763303137323210f0a204"},
	{"sub/none", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/0",
		""},
	{"sub", "0fedfbe1556f9b7ea7f70b2c9657a659d0e66d8642fef74c38387b59f1d2835f/311",
		"" +
			"0a4b0a05656d70747912420a406533623063343432393866633163313439616662663463383939366662393234323761653431653436343962393334" +
			"63613439353939316237383532623835350a4e0a066e61c3af766512440a403162313662316466353338626131326463336639376564626238356361" +
			"61373035306434366331343831333432393066656261383066383233366338336462391001124c0a046465657012440a406564666339623764306432" +
			"3339376365393731333839353830393261353033616432383562646564393234623930306534336431656162623061653261313634104f124a0a046e" +
			"6f6e6512420a406533623063343432393866633163313439616662663463383939366662393234323761653431653436343962393334636134393539" +
			"3931623738353262383535"},
	{"root", "727be242ae45e0c9188edcabb9b51caaa04d2beee652392406aee7b708fb06de/276",
		"" +
			"0a490a015a12440a40616565363130353538323932303233373538613432323964646366373566313637633939303433313361383363663739353233" +
			"3265643766376532313331633910050a500a0672756e2e736812440a4061383037366433643238643231653032303132623230656166376462663735" +
			"343039613632373731333434333930323566323832653336386533333035616266100a2001124c0a0373756212450a40306665646662653135353666" +
			"3962376561376637306232633936353761363539643065363664383634326665663734633338333837623539663164323833356610b7021a160a0661" +
			"2d6c696e6b120c2e2e2f656c736577686572651a0f0a0173120a7375622f6e61c3af7665"},
}

func goldenEntries() []Entry {
	file := func(path, content string) Entry { return Entry{Path: path, Digest: SumBytes([]byte(content))} }
	run := file("run.sh", "#!/bin/sh\n")
	run.Executable = true
	return []Entry{
		file("sub/naïve", "n"),
		run,
		{Path: "s", Link: "sub/naïve"},
		file("Z", "upper"),
		{Path: "sub/none", Dir: true},
		file("sub/deep/big", strings.Repeat("x", 70000)),
		{Path: "a-link", Link: "../elsewhere"},
		file("sub/empty", ""),
		{Path: "sub", Dir: true},
	}
}

func TestDirectoryGolden(t *testing.T) {
	tree, err := BuildTree(goldenEntries())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range goldenDirectories {
		g, err := ParseDigest(want.digest)
		if err != nil {
			t.Fatal(err)
		}
		b, ok := tree.Blobs[g]
		if !ok || hex.EncodeToString(b) != want.encoded {
			t.Errorf("%s: encoded as %x; want %s", want.path, b, want.encoded)
		}
		if want.path == "root" && tree.Root != g {
			t.Errorf("root is %s; want %s", tree.Root, g)
		}
	}
	if len(tree.Blobs) != len(goldenDirectories) {
		t.Errorf("%d directories; want %d", len(tree.Blobs), len(goldenDirectories))
	}
}

func TestEmptyTree(t *testing.T) {
	tree, err := BuildTree(nil)
	if err != nil || tree.Root != SumBytes(nil) || len(tree.Blobs) != 1 {
		t.Errorf("BuildTree(nil) = %+v, %v; want the empty blob", tree, err)
	}
}
