package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Offer is a kind of machine in the server's price catalogue. Prices are in dollars per hour and node; 0
// means unknown, as for Slurm, Kubernetes and own machines.
type Offer struct {
	Cloud        string
	InstanceType string // "" if the cloud has no such names
	Accelerator  string
	Count        float64 // of accelerators
	CPUs         float64 // 0 is unknown
	Memory       float64 // GiB; 0 means unknown
	Price        float64
	SpotPrice    float64
	Region       string // of the lowest price
}

// Offers returns what clouds offer with count accelerators of that name, the lowest price first and
// unknown ones last; an empty list of clouds means all enabled ones. The server has no such list for
// machines without accelerators.
func (c *Client) Offers(ctx context.Context, accelerator string, count int, clouds ...string) ([]Offer, error) {
	// The server treats the name as a regular expression.
	body := map[string]any{"gpus_only": false, "name_filter": regexp.QuoteMeta(accelerator), "quantity_filter": count,
		"require_price": false, "case_sensitive": false}
	if len(clouds) > 0 {
		body["clouds"] = clouds
	}
	var table map[string][]json.RawMessage
	if err := c.call(ctx, "/list_accelerators", body, &table); err != nil {
		return nil, err
	}
	var offers []Offer
	for name, rows := range table {
		if !strings.EqualFold(name, accelerator) {
			continue
		}
		for _, row := range rows {
			var o Offer
			var deviceMemory float64
			fields := []any{&o.Cloud, &o.InstanceType, &o.Accelerator, &o.Count, &o.CPUs, &deviceMemory, &o.Memory, &o.Price, &o.SpotPrice, &o.Region}
			if err := json.Unmarshal(row, &fields); err != nil {
				return nil, fmt.Errorf("/list_accelerators: reading the answer: %w", err)
			}
			// For Slurm, all are returned, regardless of the filter.
			if o.Count == float64(count) {
				offers = append(offers, o)
			}
		}
	}
	known := func(price float64) float64 {
		if price == 0 {
			return math.Inf(1)
		}
		return price
	}
	slices.SortFunc(offers, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(known(a.Price), known(b.Price)), cmp.Compare(a.Cloud, b.Cloud),
			cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Region, b.Region))
	})
	return offers, nil
}
