import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Diagnostic } from '../../../compiler/diagnostics/diagnostic.ts';
import { sortDiagnostics } from '../../../compiler/diagnostics/diagnostic.ts';
import { RULES } from '../../../compiler/diagnostics/rule.ts';
import { printDiagnostics } from '../../../compiler/print/print.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';

const source = (text: string, name = 'a.yaml'): SourceText => ({ path: `/w/${name}`, name, text });

/** A diagnostic about the first occurrence of `marked`. */
function about(text: string, marked: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const start = text.indexOf(marked);
  assert.notEqual(start, -1);
  const range = { start, end: start + marked.length };
  return { rule: 'unknown-key', severity: 'error', source: source(text), range, message: 'wrong', ...more };
}

const pretty = (diagnostics: readonly Diagnostic[], width = 100): string =>
  printDiagnostics('pretty', diagnostics, { color: false, width });
const PLAIN = { color: false, width: 80 };

describe('pretty', () => {
  test('a line, a frame, a hint, related places and a count', () => {
    const text = 'routes:\n  a:\n    promt: x\n';
    const first = { source: source(text), range: { start: 2, end: 4 }, message: 'see here' };
    const diagnostic = about(text, 'promt', { hint: 'fix it', related: [first] });
    assert.equal(
      pretty([diagnostic, about(text, 'a', { severity: 'warning' })]),
      [
        'a.yaml:3:5: error unknown-key: wrong',
        '   3 |     promt: x',
        '     |     ^^^^^',
        '       hint: fix it',
        '  a.yaml:1:3: see here',
        '   1 | routes:',
        '     |   ^^',
        '',
        'a.yaml:2:3: warning unknown-key: wrong',
        '   2 |   a:',
        '     |   ^',
        '',
        '1 error, 1 warning',
        '',
      ].join('\n'),
    );
  });

  test('prints nothing without diagnostics', () => assert.equal(pretty([]), ''));

  test('uses colours only if requested', () => {
    const coloured = printDiagnostics('pretty', [about('a: 1', 'a')], { color: true, width: 80 });
    assert.ok(coloured.includes('\u001b[31m'));
    assert.ok(!pretty([about('a: 1', 'a')]).includes('\u001b'));
  });

  const frames: readonly (readonly [string, string, string, string, string])[] = [
    ['wide characters take two columns', '名前: "日本語" bad', 'bad', '名前: "日本語" bad', '               ^^^'],
    ['combining marks take none', 'e\u0301e\u0301: bad', 'bad', 'e\u0301e\u0301: bad', '    ^^^'],
    ['tabs take four', 'a:\tbad', 'bad', 'a:    bad', '      ^^^'],
    ['a range over lines is shown on its first', 'a: [1,\n  2]', '[1,\n  2]', 'a: [1,', '   ^^^'],
    ['a Windows line end is not shown', 'a: bad\r\nb: 1', 'bad', 'a: bad', '   ^^^'],
    ['control characters cannot steer the terminal', 'a: \u001b[2Jbad', 'bad', 'a: \ufffd[2Jbad', '       ^^^'],
    ['text cannot be turned around', 'a: \u202ebad', 'bad', 'a: \ufffdbad', '    ^^^'],
  ];
  for (const [name, text, marked, code, carets] of frames) {
    test(name, () => {
      const [, codeLine, caretLine] = pretty([about(text, marked)]).split('\n');
      assert.equal(codeLine, `   1 | ${code}`);
      assert.equal(caretLine, `     | ${carets}`);
    });
  }

  test('truncates a long line on both sides of the marked part', () => {
    const text = `key: ${'x'.repeat(200)}bad${'y'.repeat(200)}`;
    const [, code = '', carets = ''] = pretty([about(text, 'bad')], 60).split('\n');
    assert.ok(code.length <= 60 && carets.length <= 60);
    assert.equal(code.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1), 'bad');
    assert.ok(code.includes('…x') && code.endsWith('…'));
  });

  test('truncates a marked part that is longer than the line', () => {
    const [, code = '', carets = ''] = pretty([about(`a: ${'z'.repeat(500)}`, 'z'.repeat(500))], 60).split('\n');
    assert.ok(code.length <= 60 && carets.length <= 60);
  });

  test('an empty range is one caret, also at the end of the file', () => {
    const text = 'a:\n';
    const diagnostic = about(text, 'a', { range: { start: text.length, end: text.length } });
    assert.ok(pretty([diagnostic]).includes('a.yaml:2:1: error'));
  });

  test('a file that could not be read has no frame', () => {
    const diagnostic = about('', '', { message: 'is a directory' });
    assert.equal(pretty([diagnostic]), 'a.yaml:1:1: error unknown-key: is a directory\n\n1 error\n');
  });
});

describe('no secret is repeated', () => {
  const lines = [
    'secret: hunter2secret',
    'x: { secret: "hunter2secret", y: 1 } # bad',
    "bot_token: 'hunter2secret'",
    '"api_key": "hunter2secret"',
    'password: hunter2secret',
    'smtp_password: hunter2secret',
    'gh_token: hunter2secret',
    'secrets: hunter2secret',
  ];
  for (const line of lines) {
    test(line, () => assert.ok(!pretty([about(line, line.slice(0, 1))]).includes('hunter2secret')));
  }
  test('where the value itself is marked', () => {
    const text = 'secrets:\n  - hunter2secret';
    const shown = pretty([about(text, 'hunter2secret', { sensitive: true })]);
    assert.ok(!shown.includes('hunter2'));
    assert.ok(shown.includes('^^^^^^^^^^^^^'));
  });
  test('references are shown', () => {
    for (const line of ['secret: env:NAME', 'token: "file:a/b"', 'secret: INSECURE_NO_AUTH']) {
      assert.ok(pretty([about(line, line.slice(0, 1))]).includes(line));
    }
  });
});

test('json: an array of objects with 1-based places', () => {
  const text = 'a: 1\nb: [1,\n 2]';
  const [record] = JSON.parse(printDiagnostics('json', [about(text, '[1,\n 2]', { hint: 'x' })], PLAIN));
  assert.deepEqual(record, {
    rule: 'unknown-key',
    severity: 'error',
    file: 'a.yaml',
    line: 2,
    column: 4,
    end_line: 3,
    end_column: 4,
    message: 'wrong',
    hint: 'x',
    fix: null,
    related: [],
  });
  assert.equal(printDiagnostics('json', [], PLAIN), '[]\n');
});

test('github: one workflow command a diagnostic, escaped', () => {
  const diagnostic = about('a: 1', '1', {
    source: source('a: 1', 'x,y:z%.yaml'),
    severity: 'warning',
    message: '50% of\nit',
    hint: 'or: not, so',
  });
  assert.equal(
    printDiagnostics('github', [diagnostic], PLAIN),
    '::warning file=x%2Cy%3Az%25.yaml,line=1,endLine=1,col=4,endColumn=5,title=unknown-key::unknown-key: 50%25 of\\nit%0Aor: not, so\n',
  );
});

describe('sarif', () => {
  const outside = { path: '/home/me/.env', name: '/home/me/.env', text: 'x' };
  const text = 'a: 1\nb: 2';
  const related = [{ source: outside, range: { start: 0, end: 1 }, message: 'there' }];
  const log = JSON.parse(
    printDiagnostics('sarif', [about(text, 'b', { related, source: source(text, 'my dir/ü.yaml') })], PLAIN),
  );
  const [run] = log.runs;

  test('names its version and every rule', () => {
    assert.equal(log.version, '2.1.0');
    assert.deepEqual(
      run.tool.driver.rules.map((rule: { id: string }) => rule.id),
      RULES.map((rule) => rule.id),
    );
  });
  test('a result names its rule, level and place', () => {
    const [result] = run.results;
    assert.equal(run.tool.driver.rules[result.ruleIndex].id, result.ruleId);
    assert.equal(result.level, 'error');
    assert.deepEqual(result.locations[0].physicalLocation, {
      artifactLocation: { uri: 'my%20dir/%C3%BC.yaml' },
      region: { startLine: 2, startColumn: 1, endLine: 2, endColumn: 2 },
    });
  });
  test('a file outside the working directory has an absolute URI', () => {
    const [place] = run.results[0].relatedLocations;
    assert.equal(place.physicalLocation.artifactLocation.uri, 'file:///home/me/.env');
    assert.equal(place.message.text, 'there');
  });
});

test('sorts diagnostics by file and position, without duplicates', () => {
  const text = 'a: 1\nb: 2';
  const list = [
    about(text, 'b', { source: source(text, 'z.yaml') }),
    about(text, 'b'),
    about(text, 'a'),
    about(text, 'a', { related: [{ source: source(text), range: { start: 0, end: 1 }, message: 'via' }] }),
  ];
  assert.deepEqual(
    sortDiagnostics(list).map(({ source: { name }, range }) => [name, range.start]),
    [
      ['a.yaml', 0],
      ['a.yaml', 5],
      ['z.yaml', 5],
    ],
  );
});
