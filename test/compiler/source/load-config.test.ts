import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadConfig } from '../../../compiler/source/load-config.ts';
import type { TestFiles } from '../../helpers/compile.ts';
import { memoryFiles } from '../../helpers/memory-files.ts';

function load(files: TestFiles, configs: readonly string[] = [], allowed: readonly string[] = []) {
  const loaded = loadConfig({ files: memoryFiles(files), cwd: '/w', home: '/h', configs, allowed });
  return {
    root: loaded.root,
    names: loaded.files.map(({ source }) => source.name),
    rules: loaded.findings.map(({ rule }) => rule),
    messages: loaded.findings.map(({ message }) => message),
    incomplete: loaded.incomplete,
    ignored: loaded.ignored,
    hints: loaded.findings.map(({ hint }) => hint ?? ''),
  };
}

describe('the root config', () => {
  test('is hookwright.yaml in the working directory', () => {
    assert.equal(load({ '/w/hookwright.yaml': '', '/h/config.yaml': '' }).root, '/w/hookwright.yaml');
  });
  test('else config.yaml in the home', () => {
    const { root, names } = load({ '/h/config.yaml': '' });
    assert.deepEqual([root, names], ['/h/config.yaml', ['/h/config.yaml']]);
  });
  test('else nothing, and names both paths', () => {
    const { incomplete, messages } = load({});
    assert.ok(incomplete);
    assert.match(messages[0] ?? '', /hookwright\.yaml.*\/h\/config\.yaml/);
  });
  test('returns a config that is ignored because of another one', () => {
    assert.deepEqual(load({ '/w/hookwright.yaml': 'a: 1', '/h/config.yaml': '', '/w/hookwright.yml': '' }).ignored, [
      '/h/config.yaml',
      '/w/hookwright.yml',
    ]);
    assert.deepEqual(load({ '/h/config.yaml': '' }).ignored, []);
    assert.deepEqual(load({ '/hookwright.yaml': '', '/h/config.yaml': '' }).ignored, ['/hookwright.yaml']);
    assert.deepEqual(load({ '/hookwright.yaml': '', '/w/hookwright.yaml': '' }).ignored, []);
    assert.deepEqual(load({ '/w/a.yaml': '', '/h/config.yaml': '' }, ['a.yaml']).ignored, []);
  });
  test('without a config, names one with another name or in a parent folder', () => {
    assert.match(load({ '/w/hookwright.yml': '' }).hints[0] ?? '', /`hookwright\.yml`/);
    assert.match(load({ '/hookwright.yaml': '' }).hints[0] ?? '', /`\.\.\/hookwright\.yaml`/);
    assert.match(load({}).hints[0] ?? '', /hookwright init/);
  });
  test('rejects a directory of that name', () => {
    const { root, rules } = load({ '/w/hookwright.yaml/x': '', '/h/config.yaml': '' });
    assert.deepEqual([root, rules], ['/w/hookwright.yaml', ['unreadable-file']]);
  });
  test('--config replaces the search, may be repeated and may be a glob', () => {
    const files = { '/w/hookwright.yaml': '', '/w/b/2.yaml': '', '/w/b/1.yaml': '', '/w/c.yaml': '' };
    assert.deepEqual(load(files, ['c.yaml', 'b/*.yaml', '/w/b/1.yaml']).names, ['c.yaml', 'b/1.yaml', 'b/2.yaml']);
  });
  test('rejects --config without a matching file', () => {
    for (const config of ['none/*.yaml', 'none.yaml']) assert.deepEqual(load({}, [config]).rules, ['unreadable-file']);
  });
});

describe('include', () => {
  test('is relative to its file, in the order of names', () => {
    const files = {
      '/w/hookwright.yaml': 'include: [parts/**/*.yaml, /abs/x.yaml]',
      '/w/parts/b.yaml': 'include: [../more.yaml]',
      '/w/parts/deep/a.yaml': '',
      '/w/parts/.hidden.yaml': '',
      '/w/more.yaml': '',
      '/abs/x.yaml': '',
    };
    assert.ok(load(files).rules.includes('unreadable-file'));
    assert.deepEqual(load(files, [], ['/abs']).names, [
      'hookwright.yaml',
      'parts/b.yaml',
      'more.yaml',
      'parts/deep/a.yaml',
      '/abs/x.yaml',
    ]);
  });
  test('reads each file once, despite links and cycles', () => {
    const files = {
      '/w/hookwright.yaml': 'include: [a.yaml, link.yaml, "*.yaml"]',
      '/w/a.yaml': 'include: [hookwright.yaml, a.yaml]',
      '/w/link.yaml': { link: '/w/a.yaml' },
    };
    assert.deepEqual(load(files).names, ['hookwright.yaml', 'a.yaml']);
  });
  test('does not enter a linked directory', () => {
    const files = {
      '/w/hookwright.yaml': 'include: ["p/**/*.yaml"]',
      '/w/p/a.yaml': '',
      '/w/p/loop': { link: '/w/p' },
    };
    assert.deepEqual(load(files).names, ['hookwright.yaml', 'p/a.yaml']);
  });
  const wrong: readonly (readonly [string, string, string])[] = [
    ['that is not a list', 'include: x.yaml', 'wrong-type'],
    ['of something else than text', 'include: [1]', 'wrong-type'],
    ['of a missing file', 'include: [x.yaml]', 'unreadable-file'],
    ['of a directory', 'include: [dir]', 'unreadable-file'],
    ['of a glob without matches', 'include: ["x/*.yaml"]', 'empty-include'],
    ['of a file that is a list', 'include: [list.yaml]', 'wrong-type'],
  ];
  for (const [name, text, rule] of wrong) {
    test(`reports ${name}`, () => {
      const files = { '/w/hookwright.yaml': text, '/w/dir/x': '', '/w/list.yaml': '[1]' };
      assert.deepEqual(load(files).rules, [rule]);
    });
  }
});
