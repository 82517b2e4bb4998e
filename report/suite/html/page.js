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
  if (report.not_run) text += `; ${report.not_run} not run`;
  if (report.stale_expectations.length) text += `; stale: ${report.stale_expectations.join('; ')}`;
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
  for (const test of report.cases) for (const operator of test.operators) {
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

function bars(counts, label) {
  const width = Math.max(counts.length * 26, 60), height = 120, top = Math.log10(Math.max(...counts) + 1) || 1;
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', `0 0 ${width} ${height + 34}`);
  svg.setAttribute('width', Math.min(width, 560));
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label + ': ' + counts.map((n, i) => n ? `${n} from ${2 ** (i - 1)} ULP on` : '').filter(Boolean).join(', '));
  counts.forEach((n, i) => {
    const h = n ? Math.max(2, height * Math.log10(n + 1) / top) : 0;
    const bar = document.createElementNS(ns, 'rect');
    for (const [name, value] of Object.entries({x: i * 26 + 3, y: height - h + 12, width: 20, height: h, class: 'bar'})) bar.setAttribute(name, value);
    const title = document.createElementNS(ns, 'title');
    title.textContent = `${n} elements, 2^${i - 1} to 2^${i} ULP`;
    bar.append(title);
    const text = (x, y, content) => { const t = document.createElementNS(ns, 'text'); t.setAttribute('x', x); t.setAttribute('y', y); t.setAttribute('text-anchor', 'middle'); t.textContent = content; svg.append(t); };
    svg.append(bar);
    if (n) text(i * 26 + 13, height - h + 9, n >= 1e4 ? n.toExponential(0) : n);
    text(i * 26 + 13, height + 26, i < 2 ? String(i) : i % 2 ? '' : `2^${i - 1}`);
  });
  return svg;
}

function ulpsOf(output) {
  if (output.ulps && output.ulps.some(n => n > 0)) return output.ulps;
  if (output.ulps || !output.max_ulp) return [];
  const counts = new Array(Math.floor(Math.log2(output.max_ulp)) + 2).fill(0);  // only the worst element is known
  counts[counts.length - 1] = 1;
  return counts;
}

function showUlps() {
  const all = [];
  for (const test of report.cases) for (const output of test.outputs) ulpsOf(output).forEach((n, i) => { all[i] = (all[i] || 0) + n; });
  const counts = Array.from(all, n => n || 0);
  $('ulp').append(counts.length ? bars(counts, 'Elements by distance') : make('p', {class: 'soft'}, 'All elements are equal.'));
}

function showSlow() {
  const slow = [...report.cases].sort((a, b) => b.seconds - a.seconds).slice(0, 10);
  $('slow').append(...slow.map(test => make('li', {}, make('a', {href: '#case=' + encodeURIComponent(test.path)}, fullName(test)), ' ', seconds(test.seconds))));
}

function showTrend(former) {
  const before = new Map(former.cases.map(test => [test.path, test]));
  const byName = new Map(former.cases.map(test => [fullName(test), test]));
  const groups = {'New failures': [], 'Fixed': [], 'Other verdict': [], 'Slower (twice, by 50 ms)': [], 'New cases': []};
  for (const test of report.cases) {
    const old = before.get(test.path) || byName.get(fullName(test));
    if (!old) groups['New cases'].push(test);
    else if (test.unexpected && !old.unexpected) groups['New failures'].push(test);
    else if (!test.unexpected && old.unexpected) groups['Fixed'].push(test);
    else if (test.verdict !== old.verdict) groups['Other verdict'].push(test);
    else if (test.seconds > 2 * old.seconds && test.seconds > old.seconds + 0.05) groups['Slower (twice, by 50 ms)'].push(test);
  }
  const link = test => make('li', {}, make('a', {href: '#case=' + encodeURIComponent(test.path)}, fullName(test)), ` ${test.verdict}, ${seconds(test.seconds)}`);
  const verdicts = Object.keys(report.summary).filter(v => report.summary[v] || former.summary[v]);
  $('trend').replaceChildren(
    table(['verdict', 'before', 'now'], verdicts.map(v => [v, String(former.summary[v] || 0), String(report.summary[v] || 0)]), 'Verdicts before and now'),
    ...Object.entries(groups).filter(([, tests]) => tests.length).map(([name, tests]) => make('details', {open: tests.length <= 20},
      make('summary', {}, `${name}: ${tests.length}`), make('ul', {}, ...tests.slice(0, 200).map(link)))));
  $('trend-section').hidden = false;
  $('trend-section').scrollIntoView();
}
