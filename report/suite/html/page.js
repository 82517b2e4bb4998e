'use strict';
const report = JSON.parse(document.getElementById('report').textContent);
const $ = id => document.getElementById(id);
const GOOD = new Set(['passed', 'passed-not-comparable', 'known-wrong']);
const classOf = test => test.unexpected ? 'bad' : GOOD.has(test.verdict) ? 'good' : 'odd';
const fullName = test => test.kind + '/' + test.name;
const seconds = s => s >= 1 ? s.toFixed(2) + ' s' : (s * 1000).toFixed(1) + ' ms';
const number = n => n === null || n === undefined ? '–' : typeof n === 'number' && !Number.isInteger(n) ? n.toPrecision(4) : String(n);

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') node.className = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

function table(heads, rows, caption) {
  return make('table', {}, make('caption', {class: 'skip'}, caption),
    make('thead', {}, make('tr', {}, ...heads.map(head => make('th', {scope: 'col'}, head)))),
    make('tbody', {}, ...rows.map(cells => make('tr', {}, ...cells.map((cell, i) =>
      cell instanceof HTMLTableCellElement ? cell : make(i ? 'td' : 'th', i ? {} : {scope: 'row'}, cell))))));
}

// ------------------------------------------------------------------ all cases
const opsetOf = test => test.opsets && test.opsets['ai.onnx'];
const opsetFor = (test, operator) => {
  const domain = Object.keys(test.opsets || {}).filter(d => operator.startsWith(d + '.')).sort((a, b) => b.length - a.length)[0];
  return domain ? test.opsets[domain] : opsetOf(test);
};

function showSummary() {
  $('state').textContent = report.as_expected ? '· as expected' : '· not as expected';
  $('state').className = report.as_expected ? 'good' : 'bad';
  const parts = Object.entries(report.summary).filter(([, n]) => n > 0).map(([verdict, n]) => `${n} ${verdict}`);
  let text = `${report.found} cases, ${seconds(report.seconds)}: ${parts.join(', ')}`;
  if (report.unexpected) text += `; ${report.unexpected} not as expected`;
  if (report.flaky) text += `; ${report.flaky} flaky`;
  if (report.not_run) text += `; ${report.not_run} not run`;
  if (report.stale_expectations.length) text += `; stale: ${report.stale_expectations.join('; ')}`;
  if (report.unused_rules.length) text += `; unused of the policy: ${report.unused_rules.join('; ')}`;
  $('summary').textContent = `${text}. ${report.actual || 'grurun'} against ${report.expected || 'the files of the cases'}, grurun ${report.grurun}.`;
  document.title = (report.as_expected ? '✓ ' : '✗ ') + 'grurun conformance';
}

function showKinds() {
  const verdicts = Object.keys(report.summary).filter(verdict => report.summary[verdict] > 0);
  const unexpected = new Map();
  for (const test of report.cases) if (test.unexpected) unexpected.set(test.kind, (unexpected.get(test.kind) || 0) + 1);
  const rows = Object.entries(report.by_kind).map(([kind, counts]) => {
    const all = verdicts.reduce((sum, verdict) => sum + counts[verdict], 0);
    const good = [...GOOD].reduce((sum, verdict) => sum + (counts[verdict] || 0), 0);
    const bad = Math.min(unexpected.get(kind) || 0, all - good);
    const share = n => `width:${100 * n / all}%`;
    const stack = make('div', {class: 'stack', role: 'img', 'aria-label': `${good} of ${all} well`}, make('i', {class: 'good', style: share(good)}),
      make('i', {class: 'bad', style: share(bad)}), make('i', {class: 'odd', style: share(all - good - bad)}));
    return [make('th', {scope: 'row'}, make('a', {href: '#kind=' + encodeURIComponent(kind)}, kind)), make('td', {}, stack), all,
      ...verdicts.map(verdict => String(counts[verdict]))];
  });
  $('kinds').append(table(['kind', '', 'cases', ...verdicts], rows, 'Verdicts by kind'));
}

function showMatrix() {
  const cells = new Map(), opsets = new Set();
  for (const test of report.cases) for (const operator of test.counted_for || test.operators) {
    const opset = opsetFor(test, operator);
    if (opset === undefined) continue;
    opsets.add(opset);
    const row = cells.get(operator) || cells.set(operator, new Map()).get(operator);
    const cell = row.get(opset) || row.set(opset, [0, 0, 0]).get(opset);
    cell[0]++;
    if (GOOD.has(test.verdict)) cell[1]++;
    if (test.unexpected) cell[2]++;
  }
  const columns = [...opsets].sort((a, b) => a - b);
  const rows = [...cells].sort(([a], [b]) => a < b ? -1 : 1).map(([operator, row]) => [operator, ...columns.map(opset => {
    const cell = row.get(opset);
    if (!cell) return make('td');
    const kind = cell[2] ? 'bad' : cell[1] === cell[0] ? 'good' : 'odd';
    const text = cell[1] === cell[0] ? `✓ ${cell[0]}` : `${cell[1]}/${cell[0]}`;
    return make('td', {}, make('button', {type: 'button', class: 'on-' + kind, 'data-go': `operator=${encodeURIComponent(operator)}&opset=${opset}`,
      'aria-label': `${operator}, opset ${opset}: ${cell[1]} of ${cell[0]} well`}, text));
  })]);
  $('matrix').append(rows.length ? table(['operator', ...columns.map(String)], rows, 'Operators by opset') : make('p', {class: 'soft'}, 'No model was read.'));
  $('matrix').addEventListener('click', event => { const go = event.target.dataset.go; if (go) { location.hash = go; $('cases').scrollIntoView(); } });
}

// counts[k]: elements from 2^(k-1) to below 2^k ULP, as in the report.
function bars(counts, label) {
  const first = counts.findIndex(n => n > 0), bins = counts.slice(first).map((n, i) => [i + first, n]);
  const slot = Math.max(7, Math.min(26, Math.floor(440 / bins.length)));  // narrow enough for a column of the page
  const width = Math.max(bins.length * slot, 60), height = 120, top = Math.log10(Math.max(...counts) + 1) || 1;
  const each = Math.ceil(36 / slot);
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height + 34}`);
  svg.setAttribute('width', width);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label + ': ' + bins.filter(([, n]) => n).map(([k, n]) => `${n} from ${2 ** (k - 1)} ULP on`).join(', '));
  bins.forEach(([k, n], i) => {
    const h = n ? Math.max(2, height * Math.log10(n + 1) / top) : 0;
    const bar = document.createElementNS(ns, 'rect');
    for (const [name, value] of Object.entries({x: i * slot + 1, y: height - h + 12, width: slot - 2, height: h, class: 'bar'})) bar.setAttribute(name, value);
    const title = document.createElementNS(ns, 'title');
    title.textContent = k === 1 ? `${n} elements, 1 ULP` : `${n} elements, 2^${k - 1} to below 2^${k} ULP`;
    bar.append(title);
    const text = (x, y, content) => { const t = document.createElementNS(ns, 'text'); t.setAttribute('x', x); t.setAttribute('y', y); t.setAttribute('text-anchor', 'middle'); t.textContent = content; svg.append(t); };
    svg.append(bar);
    if (n && (slot >= 20 || n === Math.max(...counts))) text(i * slot + slot / 2, height - h + 9, n >= 1e4 ? n.toExponential(0) : n);
    if (i % each === 0) text(i * slot + slot / 2, height + 26, k === 1 ? '1' : `2^${k - 1}`);
  });
  return svg;
}

function showUlps() {
  const all = [];
  for (const test of report.cases) for (const output of test.outputs) (output.ulps || []).forEach((n, i) => { all[i] = (all[i] || 0) + n; });
  const counts = Array.from(all, n => n || 0);
  $('ulp').append(counts.some(Boolean) ? bars(counts, 'Elements by distance') : make('p', {class: 'soft'}, 'All elements that were compared are equal.'));
}

function showSlow() {
  const slow = [...report.cases].sort((a, b) => b.seconds - a.seconds).slice(0, 10);
  $('slow').append(...slow.map(test => make('li', {}, make('a', {href: '#case=' + encodeURIComponent(test.path)}, fullName(test)), ' ', seconds(test.seconds))));
}

// Whether outputs differ more or less than they did, as `grurun report diff` sees it.
function trendOf(old, test) {
  const before = new Map(old.outputs.map(output => [`${output.data_set} ${output.name}`, output])), found = new Set();
  for (const output of test.outputs) {
    const was = before.get(`${output.data_set} ${output.name}`) || {problem: ''};
    if (was.problem !== output.problem) { found.add(output.problem ? 'Worse' : 'Better'); continue; }
    for (const name of ['max_abs', 'max_ulp', 'differing', 'non_finite']) {
      const a = was[name] || 0, b = output[name] || 0;
      if (b > a * 1.01) found.add('Worse');
      if (a > b * 1.01) found.add('Better');
    }
  }
  return found.size === 2 ? 'Changed' : [...found][0];
}

function changesOf(old, test, machine) {
  const isGood = GOOD.has(test.verdict);
  if (!old) return [isGood ? 'New cases' : 'New failures'];
  const found = [], wasGood = GOOD.has(old.verdict);
  if (wasGood && !isGood) found.push('New failures');
  else if (!wasGood && isGood) found.push('Fixed');
  else if (old.verdict !== test.verdict && !isGood) found.push('Changed');
  else if (test.verdict === 'differs') found.push(trendOf(old, test));
  const before = old.seconds * machine;
  if (test.seconds > 1.5 * before && test.seconds - before >= 0.1) found.push('Slower');
  return found.filter(Boolean);
}

function showTrend(former, file) {
  const before = new Map(former.cases.map(test => [test.path, test]));
  const byName = new Map(former.cases.map(test => [fullName(test), test]));
  // How much slower the machine was, as `grurun report diff` sees it: nine in ten cases keep within.
  const ratios = report.cases.map(test => [before.get(test.path) || byName.get(fullName(test)), test])
    .filter(([old]) => old && old.seconds >= 0.01).map(([old, test]) => test.seconds / old.seconds).sort((a, b) => a - b);
  const machine = ratios.length < 2 ? 1 : Math.max(1, ratios[Math.ceil((ratios.length - 1) * 0.9) - 1]);
  const groups = {'New failures': [], 'Worse': [], 'Changed': [], 'Gone': [], 'Slower': [], 'Fixed': [], 'Better': [], 'New cases': []};
  const seen = new Set();
  for (const test of report.cases) {
    const old = before.get(test.path) || byName.get(fullName(test));
    seen.add(old);
    for (const group of changesOf(old, test, machine)) groups[group].push(test);
  }
  groups.Gone = former.cases.filter(test => !seen.has(test));
  const name = test => groups.Gone.includes(test) ? fullName(test) : make('a', {href: '#case=' + encodeURIComponent(test.path)}, fullName(test));
  const line = test => make('li', {}, name(test), ` ${test.verdict}, ${seconds(test.seconds)}`);
  const verdicts = Object.keys(report.summary).filter(v => report.summary[v] || former.summary[v]);
  $('trend').replaceChildren(make('p', {class: 'hint'}, `Since ${file}.`),
    table(['verdict', 'before', 'now'], verdicts.map(v => [v, String(former.summary[v] || 0), String(report.summary[v] || 0)]), 'Verdicts before and now'),
    ...Object.entries(groups).filter(([, tests]) => tests.length).map(([group, tests]) => make('details', {open: tests.length <= 20},
      make('summary', {}, `${group}: ${tests.length}`), make('ul', {}, ...tests.slice(0, 200).map(line)))));
  $('trend-section').hidden = false;
}
