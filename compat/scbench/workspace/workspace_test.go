package workspace

import "testing"

func TestVariables(t *testing.T) {
	for got, want := range map[string]string{
		Assets("/a b"):                       "SCBENCH_ASSETS_DIR=/a b",
		Checkpoint("checkpoint_1"):           "SCBENCH_CHECKPOINT=checkpoint_1",
		Asset("data", "/d"):                  "SCBENCH_ASSET_DATA=/d",
		Asset("my-Data_2.json", "/d/x.json"): "SCBENCH_ASSET_MY_DATA_2_JSON=/d/x.json",
		Asset("größe=1", "/d"):               "SCBENCH_ASSET_GR__E_1=/d",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
