package page_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browsers are the names under which systems have Chromium and its kin.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

// probe opens pages in frames of a phone's and of a desktop's width, uses them, and reports what a reader would see.
const probe = `<!doctype html>
<body><pre id="result"></pre>
<script>
const visible = (doc) => [...doc.querySelectorAll("main .line")].filter((line) => line.getClientRects().length > 0).map((line) => line.querySelector("code").textContent.trim());
const open = (path, width) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = "border:0;height:900px;width:" + width + "px";
  frame.onload = () => resolve(frame.contentDocument);
  frame.src = path;
  document.body.append(frame);
});
const look = async (width) => {
  const doc = await open("/page.html", width);
  const seen = {width: doc.documentElement.scrollWidth, all: visible(doc).length, filtered: {}};
  seen.conflictsAt = doc.querySelector(".contested").getBoundingClientRect().top;
  for (const label of doc.querySelectorAll("nav label")) {
    label.click();
    seen.filtered[label.firstChild.textContent.trim()] = visible(doc);
  }
  doc.querySelector("nav label").click();
  const line = [...doc.querySelectorAll("main .line")].find((line) => line.querySelector("code").textContent == "  replicas: 4");
  const details = line.querySelector(".details");
  seen.detailsBefore = details.getClientRects().length > 0;
  line.focus();
  seen.detailsAfter = details.getClientRects().length > 0;
  seen.colours = new Set([...doc.querySelectorAll("nav label")].map((label) => getComputedStyle(label).backgroundColor)).size;
  return seen;
};
(async () => {
  const result = {phone: await look(390), desktop: await look(1280), hostile: []};
  for (let i = 0; i < ATTACKS; i++) {
    const doc = await open("/hostile/" + i, 390);
    await new Promise((resolve) => setTimeout(resolve, 50));
    result.hostile.push({pwned: "pwned" in doc.body.dataset, shown: getComputedStyle(doc.body).display != "none", width: doc.documentElement.scrollWidth});
  }
  document.getElementById("result").textContent = JSON.stringify(result);
})().catch((error) => { document.getElementById("result").textContent = JSON.stringify({error: String(error)}); });
</script>
</body>`

type seen struct {
	Width         float64
	All           int
	Filtered      map[string][]string
	DetailsBefore bool
	DetailsAfter  bool
	Colours       int
	ConflictsAt   float64
}

type report struct {
	Error          string
	Phone, Desktop seen
	Hostile        []struct {
		Pwned, Shown bool
		Width        float64
	}
}

// TestInBrowser uses the page in Chromium: it fits a phone, its filters filter, its details show, and no attack runs.
func TestInBrowser(t *testing.T) {
	got := browse(t)
	if got.Error != "" {
		t.Fatal(got.Error)
	}
	for name, view := range map[string]seen{"phone": got.Phone, "desktop": got.Desktop} {
		if limit := map[string]float64{"phone": 390, "desktop": 1280}[name]; view.Width > limit {
			t.Errorf("on a %s, the page is %v wide: it has to be scrolled sideways", name, view.Width)
		}
		if want := len(lines(parse(t, render(t, example(t))))); view.All != want || len(view.Filtered["everything"]) != want {
			t.Errorf("on a %s, %d and %d of %d lines are shown", name, view.All, len(view.Filtered["everything"]), want)
		}
		want := "spec:; replicas: 4"
		if hpa := strings.Join(view.Filtered["hpa"], "; "); hpa != want {
			t.Errorf("on a %s, the filter of a manager shows %q, not %q", name, hpa, want)
		}
		want = `metadata:; finalizers:; - example.com/hold; spec:; template:; spec:; containers:; - name: app; env:; - name: C; value: '***'; ports:; - containerPort: 53; protocol: UDP`
		if tool := strings.Join(view.Filtered[`"env tool, \"v2\""`], "; "); tool != want {
			t.Errorf("on a %s, the filter of a manager of items shows %q, not %q", name, tool, want)
		}
		if nobody := strings.Join(view.Filtered["nobody"], "; "); !strings.Contains(nobody, "revisionHistoryLimit: 10") || strings.Contains(nobody, "image:") {
			t.Errorf("on a %s, the filter of what nobody owns shows %q", name, nobody)
		}
		if view.DetailsBefore || !view.DetailsAfter {
			t.Errorf("on a %s, details show before focus: %v, and with it: %v", name, view.DetailsBefore, view.DetailsAfter)
		}
		if view.Colours != 5 { // four managers, and what is no manager
			t.Errorf("on a %s, there are %d colours", name, view.Colours)
		}
		if view.ConflictsAt < 0 || view.ConflictsAt > 300 {
			t.Errorf("on a %s, conflicts are at %v, and not in sight", name, view.ConflictsAt)
		}
	}
	if len(got.Hostile) != len(attacks) {
		t.Fatalf("%d of %d attacks were tried", len(got.Hostile), len(attacks))
	}
	for i, h := range got.Hostile {
		if h.Pwned || !h.Shown || h.Width > 390 {
			t.Errorf("%s: it ran: %v, the page is shown: %v, and %v wide", attacks[i], h.Pwned, h.Shown, h.Width)
		}
	}
}

// browse runs the probe, and skips the test if there is no browser.
func browse(t *testing.T) report {
	t.Helper()
	binary := ""
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			binary = path
			break
		}
	}
	if binary == "" {
		t.Skipf("none of %s is on PATH", strings.Join(browsers, ", "))
	}
	serve := func(content string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, content) // a browser that went away
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/probe", serve(strings.ReplaceAll(probe, "ATTACKS", jsonOf(t, len(attacks)))))
	mux.Handle("/page.html", serve(render(t, example(t))))
	for i, attack := range attacks {
		mux.Handle("/hostile/"+jsonOf(t, i), serve(render(t, hostile(attack))))
	}
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The sandbox needs rights that root and containers do not have; the pages are the test's own.
	args := []string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + t.TempDir(), "--virtual-time-budget=60000", "--dump-dom", server.URL + "/probe"}
	var stderr strings.Builder
	command := exec.CommandContext(ctx, binary, args...)
	command.Stderr = &stderr
	dom, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", binary, err, stderr.String())
	}
	var r report
	for _, pre := range all(parse(t, string(dom)), "pre") {
		if err := json.Unmarshal([]byte(text(pre)), &r); err != nil {
			t.Fatalf("%v\n%s", err, dom)
		}
	}
	return r
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
