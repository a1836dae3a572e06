// Returns what a screen reader could not use, by rules that a script can check.
(() => {
	const wrong = [], all = (s) => [...document.querySelectorAll(s)];
	for (const s of ["header", "nav[aria-label]", "main", "footer", "h1"])
		if (all(s).length !== 1) wrong.push(all(s).length + " of " + s);
	let level = 1;
	for (const h of all("h1,h2,h3")) { const n = Number(h.tagName[1]); if (n > level + 1) wrong.push("skips to " + h.textContent); level = n; }
	for (const s of all("main section")) if (!document.getElementById(s.getAttribute("aria-labelledby"))) wrong.push("section " + s.id);
	for (const b of all("button")) if (!b.textContent.trim()) wrong.push("button without a name");
	for (const b of all("[aria-controls]")) if (!document.getElementById(b.getAttribute("aria-controls"))) wrong.push("controls nothing");
	for (const i of all("input")) if (!i.labels.length) wrong.push("input without a label");
	for (const v of all("main svg")) if (!v.getAttribute("aria-label") && v.getAttribute("aria-hidden") !== "true") wrong.push("picture without a name");
	for (const t of all("table")) if (!t.querySelector("th[scope]")) wrong.push("table without headings");
	const ids = all("[id]").map((e) => e.id);
	if (new Set(ids).size !== ids.length) wrong.push("ids are not unique");
	const channel = (c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const light = (c) => .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > .99) return c; } return [255, 255, 255]; };
	const seen = new Set();
	for (const e of all("body *")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
		const svg = e instanceof SVGElement, style = getComputedStyle(e);
		const a = light(rgb(svg ? style.fill : style.color)), b = light(behind(svg ? e.closest("svg").parentElement : e));
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const name = e.tagName + "." + (svg ? e.className.baseVal : e.className);
		if (ratio < 4.5 && !seen.has(name)) { seen.add(name); wrong.push(name + " has a contrast of " + ratio.toFixed(2)); }
	}
	if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the screen: " + document.documentElement.scrollWidth);
	return wrong;
})()
