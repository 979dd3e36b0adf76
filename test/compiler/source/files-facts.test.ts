import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFacts } from '../../../compiler/source/load-env.ts';
import { memoryFiles } from '../../helpers/memory-files.ts';

const facts = createFacts({
  files: memoryFiles({
    '/h/scripts/ok.sh': '',
    '/h/scripts/sub/deep.py': '',
    '/h/scripts/inside': { link: '/h/scripts/ok.sh' },
    '/h/scripts/outside': { link: '/etc/passwd' },
    '/h/scripts/dangling': { link: '/nowhere' },
    '/h/scripts-evil/x.sh': '',
    '/h/scripts/evil': { link: '/h/scripts-evil' },
    '/h/profiles/work/scripts/mine.sh': '',
    '/h/skills/reviewing/SKILL.md': '',
    '/h/lists/team.txt': '',
    '/home/me/mine.txt': '',
    '/etc/passwd': '',
  }),
  home: '/h',
  env: (profile) =>
    new Map([
      ['HOME', '/home/me'],
      ['NAME', profile],
    ]),
  jobs: [],
});

for (const [home, path, expected] of [
  ['', 'ok.sh', 'present'],
  ['', 'sub/deep.py', 'present'],
  ['', 'inside', 'present'],
  ['', 'outside', 'outside'],
  ['', 'evil/x.sh', 'outside'],
  ['', 'dangling', 'missing'],
  ['', 'gone.sh', 'missing'],
  ['', 'sub', 'missing'],
  ['profiles/work', 'mine.sh', 'present'],
  ['profiles/work', 'ok.sh', 'missing'],
] as const) {
  test(`script ${home}/scripts/${path} is ${expected}`, () => assert.equal(facts.script(home, path), expected));
}

test('finds lists in the home, below ~/ and by absolute path', () => {
  assert.ok(facts.listFile('lists/team.txt') && facts.listFile('~/mine.txt') && facts.listFile('/etc/passwd'));
  assert.ok(!facts.listFile('lists') && !facts.listFile('gone.txt'));
});

test('a skill is a SKILL.md in a folder of its name, which cannot lead elsewhere', () => {
  assert.ok(facts.skill('', 'reviewing'));
  assert.ok(!facts.skill('profiles/work', 'reviewing'));
  assert.ok(!facts.skill('', '../skills/reviewing') && !facts.skill('', 'gone'));
});

test('variables are those of the profile', () => assert.equal(facts.variable('work', 'NAME'), 'work'));
