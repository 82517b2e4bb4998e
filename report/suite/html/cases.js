// ------------------------------------------------------------------ the list: only the rows in sight exist
const HEIGHT = 28;
const MOST_OUTPUTS = 40;
const FIELDS = ['query', 'verdict', 'kind', 'operator', 'opset'];
const ordered = report.cases.map((test, index) => ({test, index, text: `${fullName(test)} ${test.operators.join(' ')} ${test.message}${test.flaky ? ' flaky' : ''}`.toLowerCase()}))
  .sort((a, b) => rank(a.test) - rank(b.test) || a.index - b.index);
let shown = ordered, selected = -1;

function rank(test) { return test.unexpected ? 0 : GOOD.has(test.verdict) ? 2 : 1; }

function fill(id, values) {
  $(id).append(make('option', {value: ''}, 'any'), ...values.map(value => make('option', {value}, value)));
}

function draw() {
  const list = $('list'), first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
  const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 10);
  $('space').style.height = shown.length * HEIGHT + 'px';
  const rows = [];
  for (let i = first; i < last; i++) {
    const test = shown[i].test;
    rows.push(make('div', {class: 'row', id: 'row-' + i, role: 'option', 'aria-selected': String(i === selected), 'aria-setsize': shown.length,
      'aria-posinset': i + 1, style: `top:${i * HEIGHT}px`, title: test.message || fullName(test) + (test.flaky ? ', flaky' : ''), 'data-row': i},
      make('b', {class: classOf(test)}, test.flaky ? test.verdict + ' ↻' : test.verdict.replace('passed-not-comparable', 'passed (random)')), fullName(test)));
  }
  $('space').replaceChildren(...rows);
  list.setAttribute('aria-activedescendant', selected >= first && selected < last ? 'row-' + selected : '');
}

function select(i, isChosen) {
  if (!shown.length) return;
  selected = Math.max(0, Math.min(i, shown.length - 1));
  const list = $('list'), top = selected * HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
  draw();
  showCase(shown[selected].test);
  if (isChosen) remember(shown[selected].test);
}

function apply() {
  const words = $('query').value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdict = $('verdict').value, kind = $('kind').value, operator = $('operator').value, opset = $('opset').value;
  const strange = $('unexpected').checked;
  shown = ordered.filter(({test, text}) => words.every(word => text.includes(word)) && (!verdict || test.verdict === verdict) &&
    (!kind || test.kind === kind) && (!operator || test.operators.includes(operator)) && (!strange || test.unexpected) &&
    (!opset || (operator ? opsetFor(test, operator) : opsetOf(test)) === Number(opset)));
  selected = -1;
  $('list').scrollTop = 0;
  $('shown').textContent = `${shown.length} of ${ordered.length}`;
  draw();
}

// ------------------------------------------------------------------ what the address holds
function remember(test) {
  const hash = new URLSearchParams();
  for (const id of FIELDS) if ($(id).value) hash.set(id, $(id).value);
  if ($('unexpected').checked) hash.set('unexpected', '1');
  if (test) hash.set('case', test.path);
  history.replaceState(null, '', '#' + hash);
}

function recall() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (location.hash === '#cases') return;
  for (const id of FIELDS) $(id).value = hash.get(id) || '';
  $('unexpected').checked = hash.has('unexpected');
  apply();
  const wanted = hash.get('case');
  if (wanted === null) return;
  const at = shown.findIndex(({test}) => test.path === wanted);
  if (at < 0) return $('detail').replaceChildren(make('p', {class: 'bad'}, `${wanted} is not among the cases of this report.`));
  select(at, false);
  $('cases').scrollIntoView();
}

// ------------------------------------------------------------------ one case
function shapeOf(type) {
  const found = /\[([\d,]*)\]\s*$/.exec(type || '');
  return found ? found[1].split(',').filter(Boolean).map(Number) : null;
}

// |actual - expected| of the elements that are known, over two axes: the greatest along the others.
function drawImage(canvas, note, output, shape, down, across) {
  const rows = down < 0 ? 1 : shape[down], columns = across < 0 ? 1 : shape[across];
  const worst = new Float64Array(rows * columns);
  let most = 0, strange = 0;
  for (const element of output.elements) {
    if (element.where || element.index.length !== shape.length) continue;
    let error = Math.abs(Number(element.actual) - Number(element.expected));
    if (!Number.isFinite(error)) { error = Infinity; strange++; } else most = Math.max(most, error);
    const at = (down < 0 ? 0 : element.index[down]) * columns + (across < 0 ? 0 : element.index[across]);
    worst[at] = Math.max(worst[at], error);
  }
  const scale = Math.max(1, Math.min(40, Math.floor(480 / Math.max(columns, rows))));
  const stepDown = Math.ceil(rows / 2000), stepAcross = Math.ceil(columns / 2000);
  canvas.width = Math.ceil(columns / stepAcross) * scale;
  canvas.height = Math.ceil(rows / stepDown) * scale;
  const context = canvas.getContext('2d');
  context.fillStyle = '#20262b';
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) {
    const error = worst[r * columns + c];
    if (!error) continue;
    const share = error === Infinity ? 1 : Math.max(0.15, 1 + Math.log10(error / most) / 4);
    context.fillStyle = error === Infinity ? '#ff4fd8' : `hsl(${55 - 55 * share}, 95%, ${25 + 45 * share}%)`;
    context.fillRect(Math.floor(c / stepAcross) * scale, Math.floor(r / stepDown) * scale, scale, scale);
  }
  const part = output.elements.length < output.unequal ? `; only the first ${output.elements.length} of ${output.unequal} elements that are not equal are in this report` : '';
  const text = `Greatest difference ${number(most)}; dark: equal${strange ? `; pink: ${strange} without a finite difference` : ''}${part}.`;
  note.textContent = text;
  canvas.setAttribute('aria-label', `Differences of ${output.name}, axis ${down} down, axis ${across} across. ${text}`);
}

function image(output) {
  const shape = shapeOf(output.expected_type);
  if (!shape || !shape.length || !output.unequal) return null;
  if (!output.elements.length) return make('p', {class: 'soft'}, 'A run with --values differing shows an image of the differences.');
  if (!output.elements.some(e => !e.where)) return null;
  const canvas = make('canvas', {role: 'img'}), note = make('p', {class: 'soft'});
  // The last axis and the longest of the others: units and time of a recurrent layer.
  const longest = axes => axes.reduce((best, axis) => best < 0 || shape[axis] > shape[best] ? axis : best, -1);
  const axes = shape.map((_, axis) => axis);
  const last = shape[shape.length - 1] > 1 ? shape.length - 1 : longest(axes);
  const choice = (label, value) => {
    const node = make('select', {'aria-label': label}, ...shape.map((size, axis) => make('option', {value: axis}, `axis ${axis} (${size})`)), make('option', {value: -1}, 'none'));
    node.value = String(value);
    return node;
  };
  const down = choice('Axis down', longest(axes.filter(axis => axis !== last))), across = choice('Axis across', last);
  const redraw = () => drawImage(canvas, note, output, shape, Number(down.value), Number(across.value));
  down.addEventListener('change', redraw);
  across.addEventListener('change', redraw);
  redraw();
  return make('div', {}, make('div', {class: 'image'}, 'Differences:', make('label', {}, 'down ', down), make('label', {}, 'across ', across)), canvas, note);
}

function elementRows(output) {
  const known = output.elements || [];  // absent where all are equal
  const size = element => { const error = Math.abs(Number(element.actual) - Number(element.expected)); return Number.isNaN(error) ? Infinity : error; };
  const worst = known.length ? [...known].sort((a, b) => size(b) - size(a)).slice(0, 6) : [output.worst, output.first].filter(Boolean);
  return worst.map(element => [`${element.where}[${element.index.join(',')}]`, element.actual, element.expected, number(size(element))]);
}

// What an output was asked for: the tolerance of each element, or what the rule of a policy has in its place.
function asked(output) {
  const rule = output.rule || {}, parts = [];
  const has = name => rule[name] !== null && rule[name] !== undefined;
  if (!output.rule || has('rtol') || has('atol')) parts.push(`rtol ${output.rtol}, atol ${output.atol}`);
  if (has('max_ulp')) parts.push(`${rule.max_ulp} ULP${rule.ulp_floor ? ` (floor ${rule.ulp_floor})` : ''}`);
  if (has('differing')) parts.push(`${100 * rule.differing}% may differ`);
  if (has('cosine')) parts.push(`cosine ${rule.cosine}`);
  if (has('snr')) parts.push(`SNR ${rule.snr} dB`);
  return parts.join(', ');
}

function measures(output) {
  if (output.random || output.problem) return null;
  const least = [['atol', output.least_atol], ['rtol', output.least_rtol]].filter(([, n]) => n !== null).map(([name, n]) => `${name} ${number(n)}`);
  const parts = [`Asked: ${asked(output)}`, least.length ? `${least.join(' or ')} would pass` : 'no tolerance would pass'];
  if (output.cosine !== null) parts.push(`cosine ${output.cosine}`);
  if (output.snr !== null) parts.push(`SNR ${output.snr.toFixed(1)} dB`);
  return make('p', {class: 'soft'}, parts.join('; '));
}

function outputParts(output) {
  const parts = [make('h3', {}, `${output.data_set} ${output.name}`)];
  if (output.problem) parts.push(make('p', {}, output.problem));
  if (output.rule) parts.push(make('p', {}, `Judged by ${output.rule.place}: ${output.rule.reason}`));
  parts.push(measures(output));
  const rows = elementRows(output);
  if (rows.length) parts.push(make('div', {class: 'scroll'}, table(['worst element', 'actual', 'expected', 'difference'], rows, 'Worst elements')));
  parts.push(image(output));
  const counts = output.ulps || [];  // absent where values are random or of other types
  if (counts.some(Boolean)) parts.push(make('p', {class: 'soft'}, 'Elements by distance in ULP, log scale:'), bars(counts, `Elements of ${output.name} by distance`));
  return parts;
}

function showCase(test) {
  const parts = [make('h3', {}, make('span', {class: classOf(test)}, test.verdict), ' ', fullName(test)),
    make('p', {class: 'soft'}, `${test.path} · ${seconds(test.seconds)} · opset ${Object.entries(test.opsets || {}).map(([d, v]) => `${d} ${v}`).join(', ') || 'unknown'} · ${test.operators.join(', ')} `,
      make('a', {href: '#case=' + encodeURIComponent(test.path)}, 'link to this case'))];
  if (test.message) parts.push(make('p', {}, test.message));
  if (test.expectation) parts.push(make('p', {}, `Line ${test.expectation.line} of the expectations: ${test.expectation.verdict}${test.expectation.bounds ? ` within ${test.expectation.bounds}` : ''}, ${test.expectation.reason}`));
  if (test.attempts) parts.push(make('p', {}, test.flaky ? 'Flaky: it ended as expected, but not at once.' : 'Run again, and it never ended as expected.'),
    make('ol', {}, ...test.attempts.map(run => make('li', {}, `${run.verdict}, ${seconds(run.seconds)}${run.message ? ': ' + run.message : ''}`)), make('li', {}, test.verdict)));
  for (const reason of test.diagnosis) parts.push(make('p', {class: 'why'}, `why: ${reason.data_set ? reason.data_set + ', ' : ''}${reason.node}: ${reason.text}`));
  if (test.outputs.length) parts.push(make('h3', {}, 'Outputs'), make('div', {class: 'scroll'}, table(
    ['output', '', 'type', 'differing', 'max abs', 'max rel', 'max ULP'],
    test.outputs.map(o => [`${o.data_set} ${o.name}`, make('td', {class: o.ok ? 'good' : 'bad'}, o.ok ? '✓' : '✗'),
      make('td', {class: 'text'}, o.actual_type === o.expected_type ? o.expected_type : `${o.actual_type}, expected ${o.expected_type}`),
      o.random ? 'random' : `${o.differing} of ${o.total}`, number(o.max_abs), number(o.max_rel), number(o.max_ulp)]), 'Outputs')));
  const telling = test.outputs.filter(o => !o.ok).concat(test.outputs.filter(o => o.ok && (o.unequal || o.rule)));
  for (const output of telling.slice(0, MOST_OUTPUTS)) parts.push(...outputParts(output));
  if (telling.length > MOST_OUTPUTS) parts.push(make('p', {class: 'soft'}, `${telling.length - MOST_OUTPUTS} more outputs are in the table above only.`));
  for (const warning of test.warnings) parts.push(make('p', {class: 'soft'}, `warning ${warning.code}: ${warning.text}`));
  $('detail').replaceChildren(...parts.filter(Boolean));
  $('detail').scrollTop = 0;
}

// ------------------------------------------------------------------ start
function theme(name) {
  document.documentElement.dataset.theme = name;
  $('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
  $('theme').setAttribute('aria-pressed', String(name === 'dark'));
}

showSummary();
const compared = JSON.parse(document.getElementById('former-report').textContent);
if (compared) showTrend(compared, compared.file);
showKinds();
showMatrix();
showUlps();
showSlow();
const unique = values => [...new Set(values)].sort();
fill('verdict', Object.keys(report.summary).filter(v => report.summary[v]));
fill('kind', Object.keys(report.by_kind).sort());
fill('operator', Object.keys(report.by_operator).sort());
fill('opset', unique(report.cases.flatMap(test => Object.values(test.opsets || {})).map(String)).sort((a, b) => a - b));
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
$('theme').textContent = dark ? 'Light' : 'Dark';
$('theme').addEventListener('click', () => theme($('theme').textContent === 'Dark' ? 'dark' : 'light'));
$('filters').addEventListener('input', () => { apply(); remember(); });
$('filters').addEventListener('submit', event => event.preventDefault());
$('filters').addEventListener('reset', () => setTimeout(() => { apply(); remember(); }));
$('list').addEventListener('scroll', draw, {passive: true});
$('list').addEventListener('click', event => { const row = event.target.closest('[data-row]'); if (row) select(Number(row.dataset.row), true); });
$('list').addEventListener('keydown', event => {
  const page = Math.floor($('list').clientHeight / HEIGHT) - 1;
  const to = {ArrowDown: selected + 1, ArrowUp: selected - 1, PageDown: selected + page, PageUp: selected - page, Home: 0, End: shown.length - 1}[event.key];
  if (event.key === 'Enter') $('detail').focus();
  if (to === undefined) return;
  event.preventDefault();
  select(to, true);
});
addEventListener('hashchange', recall);
addEventListener('resize', draw);
$('former').addEventListener('change', async event => {
  const file = event.target.files[0];
  if (!file) return;
  try { showTrend(JSON.parse(await file.text()), file.name); $('trend-section').scrollIntoView(); } catch { $('trend').replaceChildren(make('p', {class: 'bad'}, `${file.name} is no report of grurun conformance --json.`)); $('trend-section').hidden = false; }
});
recall();
if (!location.hash && shown.length && rank(shown[0].test) < 2) select(0, false);
