/** Paths in blocks and in `any_of` start at the element, and are checked there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { samplePayload } from '../../../modules/payloads/compiler/payloads/sample-payload.ts';
import { readShippedShape } from '../../../modules/payloads/compiler/shapes/shape-file.ts';
import { compileConfig } from '../../helpers/compile.ts';

const compile = (route: object) =>
  compileConfig(
    JSON.stringify({
      platforms: {
        webhook: {
          enabled: true,
          secret: 'env:S',
          routes: { a: { source: 'github', events: ['push'], accept_untrusted: 'a test', ...route } },
        },
      },
    }),
  );

/** Ids, the marked text and the repair of the findings about paths. */
const pathsIn = (route: object) =>
  compile(route)
    .diagnostics.filter(({ rule }) => rule === 'unknown-payload-path' || rule === 'impossible-filter')
    .map(({ message }) => message);

describe('blocks', () => {
  for (const prompt of [
    '{#each commits}{id} {author.name} {#each modified}{.}{/each} {@root.ref} {@index}{/each}',
    '{#each commits}{#each @root.commits}{message}{/each}{/each}',
    '{#each commits}{.}{/each}{commits[0].message}{commits["0"].id}',
  ])
    test(`${prompt} has only known paths`, () => assert.deepEqual(pathsIn({ prompt }), []));

  for (const [prompt, meant] of [
    ['{#each commits}{messag}{/each}', /`\{message\}`/],
    ['{#each comits}{message}{/each}', /`\{#each commits\}`/],
    ['{#each commits}{author.nam}{/each}', /`\{author\.name\}`/],
    ['{#each commits}{ref}{/each}', /^(?=.*`commits`)(?=.*`\{@root\.ref\}`)/],
    ['{#each commits}{#each modified}{ref}{/each}{/each}', /^(?=.*`commits\.0\.modified`)(?=.*`\{@root\.ref\}`)/],
    ['{#each commits}{@root.reff}{/each}', /ref/],
    ['{#each repository}{name}{/each}', /not a list/],
    ['{#each ref}{.}{/each}', /not a list/],
  ] as const)
    test(`${prompt} has one unknown path`, () => {
      const found = pathsIn({ prompt });
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found.join(), meant);
    });

  test('the values of outsiders in a block are marked, the others are not', () => {
    const { output } = compile({ untrusted: 'mark', prompt: '{#each commits}{id}{message}{@root.ref}{.}{/each}' });
    const block = output?.table.routes.a?.prompt.find(({ kind }) => kind === 'each') ?? assert.fail();
    assert.ok(block.kind === 'each');
    assert.deepEqual(
      block.plan.map((segment) => [segment.kind === 'path' && segment.text, 'marked' in segment]),
      [
        ['{id}', false],
        ['{message}', true],
        ['{@root.ref}', false],
        ['{.}', true],
      ],
    );
  });

  test('a sample payload has an element for each list', () => {
    const { output } = compile({
      prompt: '{#each commits}{id}{#each modified}{.}{/each}{/each}',
      filters: { any_of: 'commits', where: { field: 'message', equals: 'x' } },
    });
    const plan = output?.table.routes.a ?? assert.fail();
    const payload = samplePayload(plan, 'push', readShippedShape('github'), 0) as {
      commits: Record<string, unknown>[];
    };
    assert.equal(payload.commits.length, 1);
    assert.equal(payload.commits[0]?.message, 'x');
    assert.equal(typeof payload.commits[0]?.id, 'string');
  });
});

describe('any_of and all_of', () => {
  const filtered = (filters: object) => pathsIn({ prompt: '{ref}', filters });

  test('known paths are not reported', () => {
    assert.deepEqual(
      filtered({
        any_of: 'commits',
        where: [
          { any_of: 'modified', where: { field: '.', starts_with: 'src/' } },
          { not: { field: 'author.name', equals: 'x' } },
        ],
      }),
      [],
    );
  });

  for (const [filters, meant] of [
    [{ any_of: 'comits', where: { field: 'id', equals: 'x' } }, /`commits`/],
    [{ all_of: 'repository', where: { field: 'id', equals: 'x' } }, /not a list/],
    [{ any_of: 'commits', where: { field: 'messag', contains: 'x' } }, /`message`/],
    [
      {
        any_of: 'commits',
        where: {
          all: [
            { field: 'id', equals: 'x' },
            { field: 'author.nam', equals: 'x' },
          ],
        },
      },
      /`author\.name`/,
    ],
    [{ any_of: 'commits', where: { any_of: 'modifed', where: { field: '.', equals: 'x' } } }, /`modified`/],
  ] as const)
    test(`${JSON.stringify(filters)} has one unknown path`, () => {
      const found = filtered(filters);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found.join(), meant);
    });
});

test('a filter on a key with dots is not a filter on the author', () => {
  const reads = (field: string): boolean =>
    compile({
      accept_untrusted: undefined,
      events: ['issues'],
      toolsets: ['terminal'],
      prompt: '{issue.body}',
      filters: { field, in: ['me'] },
    }).diagnostics.some(({ rule }) => rule === 'untrusted-input');
  assert.equal(reads('issue.user.login'), false);
  assert.equal(reads('["issue.user.login"]'), true);
});
