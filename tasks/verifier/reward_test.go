package verifier

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestRewards(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{rewardText, "1", "map[reward:1]"},
		{rewardText, " -0.5e1\n", "map[reward:-5]"},
		{rewardText, "1_000.", "map[reward:1000]"},
		{rewardText, ".5", "map[reward:0.5]"},
		{rewardText, "", "empty reward: reward.txt"},
		{rewardText, " \n", "empty reward: reward.txt"},
		{rewardText, "nan", `unusable reward: reward.txt: "nan" is not a finite number`},
		{rewardText, "-Infinity", `unusable reward: reward.txt: "-Infinity" is not a finite number`},
		{rewardText, "1e999", `unusable reward: reward.txt: "1e999" is not a finite number`},
		{rewardText, "0x10", `unusable reward: reward.txt: "0x10" is not a finite number`},
		{rewardText, "1 0", `unusable reward: reward.txt: "1 0" is not a finite number`},
		{rewardText, "1__0", `unusable reward: reward.txt: "1__0" is not a finite number`},
		{rewardText, "e5", `unusable reward: reward.txt: "e5" is not a finite number`},
		{rewardText, ".", `unusable reward: reward.txt: "." is not a finite number`},
		{rewardJSON, `{"reward": 0.5, "b": -1}`, "map[b:-1 reward:0.5]"},
		{rewardJSON, ``, "empty reward: reward.json"},
		{rewardJSON, `{"reward": NaN}`, `unusable reward: reward.json: at "reward": "NaN" is not a finite number`},
		{rewardJSON, `{"reward": -Infinity}`, `unusable reward: reward.json: at "reward": "-Infinity" is not a finite number`},
		{rewardJSON, `{"reward": 1, "a": NaN, "b": -Infinity, "c": 1e999, "d": null, "NaN \"e": {"NaN": [NaN]}}`,
			`map[NaN "e:an object a:NaN b:-Infinity c:1e999 d:null reward:1]`},
		{rewardJSON, `{"reward": 1, "a": 1, "a": 2}`, "map[a:2 reward:1]"},
		{rewardJSON, `{"reward": 1, "reward": 1}`, `unusable reward: reward.json: at "reward": the key is duplicated; write it once`},
		{rewardJSON, `{"score": NaN}`, "unusable reward: reward.json: it has no numbers"},
		{rewardJSON, `{"reward": 1e999}`, `unusable reward: reward.json: at "reward": "1e999" is not a finite number`},
		{rewardJSON, `{"reward": 0.75, "all": false}`, "map[all:false reward:0.75]"},
		{rewardJSON, `{"reward": null}`, `unusable reward: reward.json: at "reward": want a number, not null`},
		{rewardJSON, `{"reward": "1"}`, `unusable reward: reward.json: at "reward": want a number, not a text`},
		{rewardJSON, `{"reward": {"a": 1}}`, `unusable reward: reward.json: at "reward": want a number, not an object`},
		{rewardJSON, `[1]`, "unusable reward: reward.json: want an object, not an array"},
		{rewardJSON, `1`, "unusable reward: reward.json: want an object, not a number"},
		{rewardJSON, `null`, "unusable reward: reward.json: want an object, not null"},
		{rewardJSON, `{}`, "unusable reward: reward.json: it has no numbers"},
		{rewardJSON, `{"reward": 1} {}`, "unusable reward: reward.json: unexpected data after the end"},
		{rewardJSON, `{"reward": 1`, "unusable reward: reward.json: unexpected end of the file"},
		{"other", "1", "missing reward: neither reward.json nor reward.txt found"},
	} {
		rewards, err := readRewards(scriptFiles{files: map[string][]byte{c.name: []byte(c.text)}}, "reward")
		got := fmt.Sprint(rewards)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %q: %s, want %s", c.name, c.text, got, c.want)
		}
	}
	for _, l := range []scriptFiles{
		{files: map[string][]byte{rewardText: bytes.Repeat([]byte("1"), maxReward+1)}},
		{large: map[string]bool{rewardJSON: true}, files: map[string][]byte{rewardText: []byte("1")}},
	} {
		if _, err := readRewards(l, "reward"); err == nil || !strings.Contains(err.Error(), "is larger than") {
			t.Errorf("a huge reward: %v", err)
		}
	}
}

// If no reward has the score's name, the message lists the others, and how to select one.
func TestOtherRewards(t *testing.T) {
	many := map[string]any{}
	for i := range 1000 {
		many[fmt.Sprintf("k%03d", i)] = 1.0
	}
	for want, rewards := range map[string]map[string]any{
		`found "core", "style"; select the score with verifier { reward = "core" }`:                                                              {"style": 0.5, "core": 1.0},
		`found "all", "core"; select the score with verifier { reward = "core" }`:                                                                {"all": true, "core": 1.0},
		`found "all"; select the score with verifier { reward = "KEY" }`:                                                                         {"all": true},
		`found "a\x1b", "` + strings.Repeat("é", 40) + `…"; select the score with verifier { reward = "KEY" }`:                                   {strings.Repeat("é", 1<<19): 1.0, "a\x1b": 1.0},
		`found "k000", "k001", "k002", "k003", "k004", "k005", "k006", "k007", and 992 more; select the score with verifier { reward = "k000" }`: many,
	} {
		if got := others(rewards); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRules(t *testing.T) {
	l := scriptFiles{files: map[string][]byte{"d.json": []byte(`{"rc": 3, "a/b": ["x", {"c": null}], "text": "Judge not available: x"}`), "plain": []byte("no judge\n")}}
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{File: "d.json", Pointer: "/rc", Values: []string{"3", "4"}}, "d.json/rc is 3"},
		{Rule{File: "d.json", Pointer: "/rc", Values: []string{"4"}}, ""},
		{Rule{File: "d.json", Pointer: "/a~1b/1/c", Values: []string{"null"}}, "d.json/a~1b/1/c is null"},
		{Rule{File: "d.json", Pointer: "/a~1b/7", Values: []string{"null"}}, ""},
		{Rule{File: "d.json", Pointer: "/rc/x", Values: []string{"3"}}, ""},
		{Rule{File: "d.json", Pointer: "/text", Pattern: "^Judge not"}, `d.json/text has "Judge not"`},
		{Rule{File: "plain", Pattern: "no judge"}, `plain has "no judge"`},
		{Rule{File: "plain", Pointer: "/x", Pattern: "no judge"}, ""},
		{Rule{File: "absent", Pattern: "x"}, ""},
	} {
		if got := c.rule.brokenText(l); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rule, got, c.want)
		}
	}
}

func FuzzRewards(f *testing.F) {
	f.Add([]byte(`{"reward": 1}`), []byte("1"))
	f.Fuzz(func(t *testing.T, object, text []byte) {
		for _, l := range []scriptFiles{{files: map[string][]byte{rewardJSON: object}}, {files: map[string][]byte{rewardText: text}}} {
			if rewards, err := readRewards(l, "reward"); err == nil && len(rewards) == 0 {
				t.Error("neither rewards nor an error")
			}
		}
	})
}
