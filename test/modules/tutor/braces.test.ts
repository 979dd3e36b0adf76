// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are templates of other tools
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import { readBraces, readSyntax } from '../../../modules/tutor/compiler/braces.ts';
import { readForeignField } from '../../../modules/tutor/compiler/foreign-fields.ts';
import { ROOT } from '../../helpers/root.ts';

/** Problems of templates, found by the compiler and by the tutor. */
const reportsOf = (text: string) =>
  lowerTemplate(text).problems.flatMap(({ ask, ...problem }) =>
    ask === undefined ? [problem] : problem.message === '' ? readBraces(ask) : [readSyntax(problem, ask)],
  );

/** Prose, data and code as they are in prompts. */
const SILENT = [
  // Prose
  'Answer {briefly and politely}, and {do not} guess.',
  'Answer with {approve|reject} or {low|medium|high}.',
  'Choose {string|number}, {title|date}, {upper|lower}.',
  'Use {yes/no} and {and/or}, e.g. {either, or}, {e.g. this}, {i.e. that}.',
  'The set {1, 2, 3}, the range {1..5}, {...}, {…}, {}, { }, {?}, {!}.',
  '{{ insert the summary here }} and {{some words}}',
  'Write to {user@example.com} or {@ alice}.',
  '# Findings {#findings}\n## More {#fig:one}',
  'A smiley {:-)} and {: a list :}',
  // JSON and what looks like it
  '{"score": 1.5, "why": "a.b", "list": [1, 2], "nested": {"a": {"b": null}}}',
  '{"a":1}',
  '{"key": "<one of: a|b>"}',
  'Return {score: 0.5, label: "x"} or {score:0.5,label:"x"}',
  '{ "tags": ["a"], "path": "a[0].b" }',
  "{'a': 1, 'b': [2]}",
  '{"$ref": "#/definitions/a.b"}',
  '{name: string, tags: string[]}',
  '{string[]}',
  '{max_tokens: 20000}',
  '{{"score": 1, "why": "x"}}',
  '{"a": "{b}"',
  // CSS
  'a{color:red} .b{margin:0;padding:1px 2px} p { z-index: 10; }',
  '.a{opacity:.5} .b{transition:.2s} .c{width:10px} .d{flex:1}',
  '@media (min-width: 10px) {main{color:#fff}}',
  // Shell
  'mv {a,b}.txt; echo {01..10}; cp *.{js,ts}; find . -exec rm {} \\;',
  'rm -r {dist,build}/*; awk "{print $1}"; xargs -I{} echo {}',
  '${HOME} ${HOME:-/root} ${#HOME} ${HOME%/*} ${HOME//a/b}',
  'src/{*.ts,*.tsx} {src,test}/**/*.ts {*.ts} {**/*.md} {src/*}',
  // Code
  'function f(a) { return a; } const { x, y } = props; if (a) { b(); } else { c() }',
  'import { a, b as c } from "d"; export { default } from "./e.js"; import {a} from f',
  '<p>{items.map((item) => <b key={item.id}>{fn(x)}</b>)}</p> {...props} {a && b} {a ? b : c}',
  'fn main() { println!("{}", x); } let v = vec![1]; match x { Some(y) => {} }',
  'type A = {a: string | null; b?: number}; interface B {c(): void}',
  'std::vector<int> v{1, 2}; int a[] = {1, 2}; struct S { int x[3]; };',
  'f"{x!r}"'.replace('{x!r}', '{x + 1}'),
  '{a[i]} = {b[j]}',
  '{ return }',
  // LaTeX and mathematics
  '\\frac{1}{2} \\begin{align*} x^{2+n} \\end{align*} \\sum_{i=1}^{n+1} \\text{if $x$} {\\bf a} \\sqrt[3]{x+1}',
  '{x | x > 0}, {n in N}, {{1}, {2, 3}}, \\mathbb{R}^{3 \\times 3}'.replace('{R}', '{ R }'),
  // Other braces in code
  '`{{ title }} {a|upper} {commits.*.id} ${name}`',
  '```jinja\n{% for x in y %}{{ x }}{% endfor %} {data[email]}\n```',
  'GET /users{/user}{?page,per_page} /repos/{+path}',
  'regex: a{2} b{2,} c{1,3} \\d{4}-\\d{2} [{}] \\p{L} {^}'.replace(/\{2\}|\{4\}|\{L\}/g, '{1,}'),
] as const;

describe('text that is not a placeholder', () => {
  for (const text of SILENT) test(JSON.stringify(text), () => assert.deepEqual(reportsOf(text), []));
});

/** The part that is reported, and how to write it: a repair, or a part of the words. */
const LOUD: readonly (readonly [written: string, meant: string, isRepaired?: true])[] = [
  ['{{a}}', '{a}', true],
  ['{{ a }}', '{a}', true],
  ['{{{ a }}}', '{a}', true],
  ['{{ .a.b }}', '{a.b}', true],
  ['{{- a -}}', '{a}', true],
  ['${a.b}', '`{a.b}` or `${a.b}`'],
  ['${{a}}', '`{a}` or `${a}`'],
  ['{{ a.b | upper }}', '{a.b}'],
  ['{{ a | default("x") }}', '{a}'],
  ['{{ commits[*].id }}', '{#each commits}{id} {/each}'],
  ['{{ printf "%s" .title }}', 'single braces'],
  ['{{ toJson .commits }}', 'single braces'],
  ['{{this}}', '{.}', true],
  ['{{this.id}}', '{id}', true],
  ['{{@index}}', '{@index}', true],
  ['{% for c in commits %}', '{#each commits}'],
  ['{%- for c in push.commits -%}', '{#each push.commits}'],
  ['{{ range .Alerts }}', '{#each Alerts}'],
  ['{{- range $i, $a := .Alerts }}', '{#each Alerts}'],
  ['{{#commits}}', '{#each commits}'],
  ['{{#if merged}}', 'filters'],
  ['{% if merged %}', 'filters'],
  ['{commits.*.modified}', '{#each commits}{modified} {/each}'],
  ['{commits[*].modified[*]}', '{#each commits}{#each modified}{.} {/each}{/each}'],
  ['{commits.#.id}', '{#each commits}{id} {/each}'],
  ['{items[].n}', '{#each items}{n} {/each}'],
  ['{.items[].n}', '{#each items}{n} {/each}'],
  ['{$.items[*].n}', '{#each items}{n} {/each}'],
  ['{.items[] | .n}', '{#each items}'],
  ['{items[]}', '{#each items}{.} {/each}'],
  ['{items[-1].id}', '{items[0].id}'],
  ['{ items[0].id }', '{items.0.id}', true],
  ['{data[email]}', '{data.email}'],
  ['{repository[full_name]}', '{repository.full_name}'],
  ['{repository[owner][login]}', '{repository.owner.login}'],
  ["{ä['b/c']}", '{["ä"]["b/c"]}', true],
  ['{labels.app.kubernetes.io/name}', '{labels["app.kubernetes.io/name"]}'],
  ['{labels.app/name}', '{labels["app/name"]}'],
  ['{größe.wert}', '{["größe"].wert}'],
  ['{@odata.id}', '{["@odata.id"]}'],
  ['{@type}', '{["@type"]}'],
  ['{$type}', '{["$type"]}'],
  ['{#number}', '{number}'],
  ['{%name%}', '{name}'],
  ['{x|upper}', '{x}'],
  ['{x | upper}', '{x}'],
  ['{ x|truncate(20) }', '{x}'],
  ["{x|default('none')}", '{x}'],
  ['{issue.title|anything}', '{issue.title}'],
  ['{__raw__:20000}', '{__raw__}'],
  ['{__raw__|tojson}', '{__raw__}'],
  ['{issue.title:50}', '{issue.title}'],
  ['{price:.2f}', '{price}'],
  ['{n:>10}', '{n}'],
  ['{n:02d}', '{n}'],
  ['{x!r}', '{x}'],
  ['{issue.title?}', '{issue.title}'],
  ['{issue.title ?? "none"}', '{issue.title}'],
  ['{issue.title || "none"}', '{issue.title}'],
  ['{issue.title or "none"}', '{issue.title}'],
  ['{@index}', '{#each path}'],
  ['{@root.a}', '{a}'],
  ['{#if merged}', 'filters'],
  ['{#for c in commits}', '{#each commits}'],
  ['{# each commits}', '{#each commits}'],
  ['{#Each commits}', '{#each commits}'],
  ['{commits | map(.id)}', '{#each commits}{id} {/each}'],
  ['{labels[app.kubernetes.io/name]}', '{labels["app.kubernetes.io/name"]}'],
  ['{items[0}', '{items[0].id}'],
  ['{items[1:2]}', '{items[0].id}'],
  ['{items[?(@.open)]}', '{items[0].id}'],
  ['{имя}', '{["имя"]}'],
  ['{x || y}', '{x}'],
  ['{x ?? y}', '{x}'],
  ['{len(a)}', '{a}'],
  ['{upper( a.b )}', '{a.b}'],
  ['{a->b}', '{a.b}'],
  ['{$a->b->c}', '{a.b.c}'],
  ['{"a.b"}', '{["a.b"]}'],
  ["{'a.b'}", '{["a.b"]}'],
  ['{../b}', '{@root.b}'],
  ['{../../a.b}', '{@root.a.b}'],
  ['{>x}', 'filters'],
  ['{^x}', 'filters'],
  ['{{^merged}}', 'filters'],
  ['{{> header}}', 'filters'],
];

const WRITTEN: {
  readonly attempts: Readonly<Record<string, readonly string[]>>;
  readonly harmless: readonly string[];
} = parse(readFileSync(join(ROOT, 'test/modules/tutor/attempts.yaml'), 'utf8'));

describe('the list of a stranger', () => {
  for (const [tool, texts] of Object.entries(WRITTEN.attempts))
    for (const text of texts)
      for (const whole of [text, `PR ${text} of today`, `- ${text}\n{title}`])
        test(`${tool}: ${JSON.stringify(whole)} is reported`, () => {
          const [first = assert.fail('silent'), second] = reportsOf(whole);
          // Each says what to write.
          assert.match(`${first.message} ${first.hint}`, /write|written|quoted|is `\{|close|filters/);
          if (second !== undefined) assert.notDeepEqual(first.within, second.within);
        });

  for (const text of WRITTEN.harmless)
    for (const whole of [text, `Some words first.\n${text}\nand after`])
      test(`${JSON.stringify(whole)} is silent`, () => assert.deepEqual(reportsOf(whole), []));
});

describe('a block without its other half', () => {
  for (const [text, advice] of [
    ['{#each a}x', 'is not closed; write {/each}'],
    ['{#each a}{b}{/}', '`{/each}` for `{/}`'],
    ['{#each a}{b}{/ each}', '`{/each}` for `{/ each}`'],
    ['{#each a}{b}{/Each }', '`{/each}` for `{/Each }`'],
    ['the block `{#each a}` repeats', '`{ #each items}`'],
    ['the block ends at `{/each}`', '`{ #each items}`'],
  ] as const)
    test(`${text} is reported: ${advice}`, () => {
      const [{ rule, message, hint } = assert.fail('nothing')] = reportsOf(text);
      assert.equal(rule, 'template-syntax');
      assert.ok(`${message} ${hint}`.includes(advice), `${message} ${hint}`);
      assert.doesNotMatch(message, /is not the path of a list/);
    });

  test('the way to show a block is silent', () =>
    assert.deepEqual(reportsOf('the block `{ #each items}` repeats'), []));
});

describe('a loop of another tool', () => {
  for (const text of ['{% for a in list %}{{ a.id }}{% endfor %}', '{{ range .List }}{{ .Id }}{{ end }}'])
    test(`${text} is reported without a repair of the paths in it`, () => {
      const reports = reportsOf(text);
      assert.equal(reports.length, 2);
      assert.deepEqual(
        reports.map(({ fix }) => fix),
        [undefined, undefined],
      );
    });
});

describe('spellings of other tools', () => {
  for (const [written, meant, isRepaired] of LOUD)
    test(`${written} becomes ${meant}`, () => {
      const reports = reportsOf(`see ${written} in`);
      assert.equal(reports.length, 1, JSON.stringify(reports));
      const [{ rule, within, message, hint, fix } = assert.fail('nothing')] = reports;
      assert.equal(rule, 'template-braces');
      const { offset = -1, length = 0 } = within ?? {};
      assert.ok(written.includes(`see ${written} in`.slice(offset, offset + length)));
      assert.ok(`${message} ${hint}`.includes(meant), `${message} ${hint}`);
      assert.deepEqual(fix, isRepaired === true ? { kind: 'replace', text: meant } : undefined);
    });

  for (const [written, meant] of LOUD)
    test(`${written} in backticks is not reported`, (context) => {
      if (/^\$?\{\{[^ {]/.test(written)) return context.skip();
      assert.deepEqual(reportsOf(`see \`${written}\` in`), []);
      assert.notEqual(meant, '');
    });

  test('several in one text are reported in their order, each once', () => {
    const text = '{a|upper} {title} {data[email]} {{ x }} {% for c in d %} {% if a %}';
    const offsets = reportsOf(text).map(({ within }) => within?.offset);
    assert.deepEqual(
      offsets,
      ['{a|', '{data', '{{', '{% for'].map((part) => text.indexOf(part)),
    );
  });

  test('a loop of Handlebars becomes a block', () => {
    const reports = reportsOf('{{#each commits}}{{@index}}: {{this.id}}{{/each}}');
    const meant = ['{#each commits}', '{@index}', '{id}', '{/each}'];
    assert.deepEqual(
      reports.map(({ fix }) => fix),
      meant.map((text) => ({ kind: 'replace', text })),
    );
  });

  test('a mistake that is an error is reported once', () => {
    const rules = reportsOf('{ issue.title } {$json["a"]} {a..b} {{ a.b }}').map(({ rule }) => rule);
    assert.deepEqual(rules, ['template-syntax', 'template-syntax', 'template-syntax', 'template-syntax']);
  });
});

describe('malformed placeholders', () => {
  for (const [written, meant, isRepaired] of [
    ['{a..b}', '{a.b}', false],
    ['{.a}', '{a}', true],
    ['{a.}', '{a}', true],
    ['{a.b..c}', '{a.b.c}', false],
    ['{ a.b }', '{a.b}', true],
    ["{a['b']}", '{a.b}', true],
    ["{a['b c']}", '{a["b c"]}', true],
    ['title {a.b', '{a.b}', true],
    ['x {a.b and {c}', '{a.b}', true],
    ['see {title', '{title}', true],
    ['see title}', '{title}', true],
    ['{{ $json.body.a }}', '{a}', true],
    ['${{ github.event.a }}', '{a}', true],
    ['${{ github.actor }}', '{sender.login}', true],
    ['{{ trigger.body.id }}', '`{id}` or `{body.id}`', false],
    ['{{ steps.x.event.id }}', '`{id}` or `{event.id}`', false],
    ['{{ event.text }}', '`{text}` or `{event.text}`', false],
    ['{{ secrets.TOKEN }}', '`{TOKEN}`', false],
    ['{#each a[]}{.}{/each}', '{#each a}', false],
    ['{#each a.*}{.}{/each}', '{#each a}', false],
    ['{#each a as x}{x.b}{/each}', '{#each a}', false],
    ['{#each x in a.b}{x.b}{/each}', '{#each a.b}', false],
  ] as const)
    test(`${written} becomes ${meant}${isRepaired ? '' : ', and is not repaired'}`, () => {
      const reports = reportsOf(written);
      const [{ rule, message, hint, fix } = assert.fail('nothing'), second] = reports;
      assert.deepEqual([rule, second], ['template-syntax', undefined]);
      assert.ok(`${message} ${hint}`.includes(meant), `${message} ${hint}`);
      assert.deepEqual(fix, isRepaired ? { kind: 'replace', text: meant } : undefined);
    });

  for (const written of ['{{1.payment.id}}', '{{123__payment__id}}', '{{event.id}}'])
    test(`${written} names a step of another tool, so it is not repaired`, () => {
      const [{ hint = '', fix } = assert.fail('nothing')] = reportsOf(written);
      assert.equal(fix, undefined);
      assert.match(hint, /`\{(?:payment\.)?id\}` or/);
    });
});

describe('fields', () => {
  for (const [field, meant] of [
    ['commits.*.modified', 'any_of: commits, where: { field: modified'],
    ['commits[*].id', 'any_of: commits, where: { field: id'],
    ['items[].n', 'any_of: items, where: { field: n'],
    ['commits.#.id', 'any_of: commits, where: { field: id'],
    ['.items[].n', 'any_of: items, where: { field: n'],
    ['labels[]', 'any_of: labels, where: { field: .'],
    ['header.X-Token', 'headers.X-Token'],
    ['header.x', 'headers.x'],
    ['request.headers.host', 'headers.host'],
    ['title|lower', 'title'],
    ['title | lower', 'title'],
    ['title.length()', '`title`'],
    ['data[email]', 'data.email'],
    ["data['a.b']", 'data["a.b"]'],
    ['@odata.id', '["@odata.id"]'],
    ['labels.app.kubernetes.io/name', 'labels["app.kubernetes.io/name"]'],
    ['a[?(@.b)]', 'any_of: items'],
    ['*.x', 'any_of: items'],
    ['x[-1]', 'items[0].id'],
    ['x[-1].id', 'items[0].id'],
    ['${a.b}', '`a.b`'],
    ['{a', '`a`'],
    ['a b', '["a b"]'],
    ['items.-1.n', 'items[0].id'],
    ['body.ref', '`ref`'],
    ['query.x', '["query"].x'],
    ['trigger.body.id', '`id`'],
    ['{{ body.a }}', '`a`'],
  ] as const)
    test(`${field} is answered with ${meant}`, () => {
      const { message = '', hint = '' } = readForeignField(field, ['field']) ?? {};
      assert.ok(`${message} ${hint}`.includes(meant), `${message} ${hint}`);
    });

  for (const field of [
    ...['a', 'a.b', 'a.0.b', 'a[0]', 'a["b.c"]', '["@odata.id"]', '@type', '$id', 'a/b', 'größe.wert'],
    ...['payload.a', 'headers.X-Token', 'headers["X-Token"]', 'event', 'header.event_type', '.'],
  ])
    test(`${field} is not a mistake`, () => assert.equal(readForeignField(field, ['field']), null));
});
