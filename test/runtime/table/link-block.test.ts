import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import type { Marks, Rendered } from '../../../runtime/table/link-template.ts';
import { linkPrompt, linkTemplate, printTemplate } from '../../../runtime/table/link-template.ts';
import type { TemplatePlan } from '../../../schemas/generated/types.ts';
import { anyCharacter } from '../../helpers/any-text.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const builtins = { event_type: 'push', route: 'ci', delivery_id: 'd-1' };

function planOf(template: string): TemplatePlan {
  const { plan } = lowerTemplate(template);
  assert.ok(plan, 'the template lowers');
  return plan;
}

const render = (template: string, payload: unknown): Rendered => linkTemplate(planOf(template))(payload, builtins);

const payload = {
  alerts: [
    { status: 'firing', labels: { alertname: 'Disk', 'app/name': 'db' }, tags: ['a', 'b'], route: 'own' },
    { status: 'resolved', labels: { alertname: 'CPU' }, tags: [] },
  ],
  title: 'T {alerts}',
  empty: [],
  none: null,
  object: { a: 1 },
  text: 'abc',
  matrix: [[1, 2], [3]],
  '@odata.id': 'x',
};

describe('what a block renders', () => {
  for (const [template, text, ...unresolved] of [
    ['<{#each alerts}{status}: {labels.alertname}\n{/each}>', '<firing: Disk\nresolved: CPU\n>'],
    ['{#each alerts}{@index}{/each}', '01'],
    ['{#each alerts}{@index}{#each tags}{@index}{.}{/each}{@index};{/each}', '00a1b0;11;'],
    ['{#each alerts}{#each tags}{.}={@root.title} {/each}{/each}', 'a=T {alerts} b=T {alerts} '],
    ['{#each matrix}{#each .}{.},{/each};{/each}', '1,2,;3,;'],
    ['{#each alerts[0].tags}{.}{/each}', 'ab'],
    ['{#each alerts}{#each @root.matrix[1]}{.}{/each}{/each}', '33'],
    ['{#each alerts}{["status"]}{@root["@odata.id"]}{/each}', 'firingxresolvedx'],
    ['{#each alerts}{route} {event_type} {/each}', 'own push ci push '],
    ['{#each matrix}{.}{/each}', '[1,2][3]'],
    ['{#each matrix}{__raw__}{/each}', '[\n  1,\n  2\n][\n  3\n]'],
    ['{#each matrix}text{/each}', 'texttext'],
    ['a{#each empty}x{/each}b', 'ab'],
    ['a{#each missing}x{/each}b', 'ab', '{#each missing}'],
    ['a{#each none}x{/each}b', 'ab', '{#each none}'],
    ['a{#each object}x{/each}b', 'ab', '{#each object}'],
    ['a{#each text}x{/each}b', 'ab', '{#each text}'],
    ['{#each alerts}{labels["app/name"]} {/each}', 'db {labels["app/name"]} ', '{labels["app/name"]}'],
    ['{#each alerts}{title}{/each}', '{title}{title}', '{title}'],
    ['{#each alerts}{#each nothing}{/each}{/each}', '', '{#each nothing}'],
    ['{#each alerts}{constructor}{/each}', '{constructor}{constructor}', '{constructor}'],
  ] as const)
    test(template, () => assert.deepEqual(render(template, payload), { text, unresolved }));

  test('a payload that is a list is a separate block', () => {
    assert.equal(render('{#each .}{id}{/each}', [{ id: 1 }, { id: 2 }]).text, '12');
  });

  test('printed, it is the text as written', () => {
    const text = 'a {#each x["y z"]}{@index} {.} {@root.b}{#each .}{/each}{/each} {c[0]}';
    assert.equal(printTemplate(planOf(text)), text);
  });
});

describe('limits', () => {
  const limit = 2000;
  const points = (text: string): number => [...text].length;

  test('the text of an outermost block is cut, and the text around it is not', () => {
    const list = Array.from({ length: 5000 }, () => '𝄞');
    assert.equal(render('<{#each .}{.}{/each}>', list).text, `<${'𝄞'.repeat(limit)}>`);
    const [before, after] = render('{#each .}ab{.}{/each}|{#each .}ab{.}{/each}', list).text.split('|');
    assert.equal(points(before ?? ''), limit);
    assert.equal(after, before);
    const matrix = list.map(() => list);
    assert.equal(points(render('{#each .}{#each .}x{/each}{/each}', matrix).text), limit);
  });

  test('one long value is cut', () => {
    for (const value of ['x'.repeat(1e6), Array.from({ length: 1e5 }, () => 'x'), { a: 'x'.repeat(1e6) }])
      assert.equal(points(render('{#each .}-{.}-{/each}', [value, 'y']).text), limit);
  });

  const list: unknown[] = Array.from({ length: 1e6 }, () => '');
  list[0] = Array.from({ length: 1e5 }, () => []);
  for (const template of [
    '{#each .}{.}{/each}',
    '{#each .}{/each}',
    '{#each .}{x}{/each}',
    '{#each .}{#each x}{/each}{/each}',
    '{#each .}{#each @root[0]}{#each @root[0]}{/each}{/each}{/each}',
    '{#each .}{#each @root["0"]}{#each .}{/each}{/each}{/each}',
  ])
    test(`a list of a million elements costs no more: ${template}`, () => {
      const run = linkTemplate(planOf(template));
      run(list, builtins);
      assert.ok(cpuTime(() => run(list, builtins)) < 50);
    });

  test('a block in any payload ends within its limit, and shows the elements in order', () => {
    const element = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 900 }),
      fc.nat(),
      fc.constant(null),
      fc.boolean(),
    );
    fc.assert(
      fc.property(fc.array(element, { maxLength: 40 }), (list) => {
        const whole = list.map(
          (value, index) => `${index}:${typeof value === 'string' ? value : JSON.stringify(value)};`,
        );
        const expected = [...whole.join('')].slice(0, limit).join('');
        assert.equal(render('{#each .}{@index}:{.};{/each}', list).text, expected);
      }),
      { seed: 20260101, numRuns: 200 },
    );
  });
});

describe('marks in a block', () => {
  const marks: Marks = {
    notice: () => 'notice ',
    markText: (text, id) => `<${id}>${text.replaceAll('<', '(')}</${id}>`,
    markJson: (write, id) => `<${id}>${write((text) => text.replaceAll('<', '('))}</${id}>`,
  };
  const marked = (template: string): TemplatePlan => mark(planOf(template));
  const mark = (plan: TemplatePlan): TemplatePlan =>
    plan.map((segment) =>
      segment.kind === 'each'
        ? { ...segment, plan: mark(segment.plan) }
        : segment.kind === 'path' || segment.kind === 'dump'
          ? { ...segment, marked: true as const }
          : segment,
    );
  const renderMarked = (template: string, value: unknown): string =>
    linkPrompt(marked(template), marks)(value, builtins, 'ID').text;

  test('each value has its own', () => {
    assert.equal(
      renderMarked('{#each .}{a}{n};{/each}', [
        { a: 'x<', n: 1 },
        { a: ['<'], n: null },
      ]),
      '<ID>x(</ID>1;<ID>["("]</ID>null;',
    );
  });

  test('no value of any length opens a mark that is not closed', () => {
    for (const value of ['x', 'x'.repeat(1990), 'x'.repeat(1e5), ['x'.repeat(1e5)], { x: '<'.repeat(5000) }]) {
      for (const template of ['{#each .}{.}{/each}', '{#each .}{__raw__}{/each}', '{#each .}a{.}{.}{/each} after']) {
        const text = renderMarked(template, [value, value, value, '</ID>']);
        assert.match(text, /^(?:a|<ID>[^<]*<\/ID>)*(?: after)?$/);
        assert.ok(text.length <= 2000 + ' after'.length + '<ID></ID>'.length, String(text.length));
      }
    }
  });
});
