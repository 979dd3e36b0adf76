/** The folders are stages, and imports go one way: base, schemas → compiler → cli; base, schemas → runtime → cli. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Import {
  readonly file: string;
  /** A path from the root, or the name of a package. */
  readonly to: string;
}

function sources(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
    .map((file) => join(folder, file));
}

/** Examples in comments import the package. */
const COMMENT = /^ *\/\*\*[\s\S]*?\*\//gm;

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8').replace(COMMENT, '');
  const specifiers = [...text.matchAll(/^(?:import|export) (?:[^;'"]*? from )?'([^']+)';$|\bimport\('([^']+)'\)/gm)];
  return specifiers.map((match) => {
    const to = match[1] ?? match[2] ?? '';
    return { file, to: to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), to)) : to };
  });
}

/** What each stage may import of this repository, and of packages; `node:` is open to all. */
const STAGES: Readonly<Record<string, { readonly folders: readonly string[]; readonly packages: readonly string[] }>> =
  {
    compiler: { folders: ['compiler', 'schemas', 'base'], packages: ['yaml', 'picomatch', 're2js', 'croner'] },
    runtime: {
      folders: ['runtime', 'schemas', 'base'],
      packages: ['undici', '@photostructure/sqlite', 'pg', 're2js', 'croner', 'commonmark', 'pino'],
    },
  };

/** Built-in modules that would let the compiler see the world other than through its input. */
const WORLD = [
  'node:fs',
  'node:fs/promises',
  'node:http',
  'node:https',
  'node:net',
  'node:child_process',
  'node:process',
  'node:os',
];

/** The compiler for programs that embed it: its input with the real file system. */
const OUTER = 'compiler/node/';

for (const [stage, { folders, packages }] of Object.entries(STAGES)) {
  describe(`${stage}/`, () => {
    const imports = sources(stage).flatMap(importsOf);

    test(`imports only ${folders.join(' and ')}`, () => {
      const wrong = imports.filter(
        ({ to }) => /\.ts$/.test(to) && !folders.some((folder) => to.startsWith(`${folder}/`)),
      );
      assert.deepEqual(wrong, []);
    });
    test(`uses only the packages ${packages.join(', ')}`, () => {
      const wrong = imports.filter(
        ({ to }) =>
          !to.startsWith('node:') &&
          !/\.ts$/.test(to) &&
          !packages.some((name) => to === name || to.startsWith(`${name}/`)),
      );
      assert.deepEqual(wrong, []);
    });
  });
}

test('the compiler sees files, environment and time only through its input', () => {
  const pure = sources('compiler').filter((file) => !file.startsWith(OUTER));
  const wrong = pure.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const world = importsOf(file).filter(({ to }) => WORLD.includes(to));
    const clock = /\bDate\.now\(|\bnew Date\(\)|\bprocess\.(?:env|cwd|argv)\b|\bMath\.random\(/.test(text);
    return world.length > 0 || clock ? [file] : [];
  });
  assert.deepEqual(wrong, []);
});

test('the compiler itself does not know the file system that programs hand it', () => {
  const wrong = sources('compiler')
    .filter((file) => !file.startsWith(OUTER))
    .flatMap(importsOf)
    .filter(({ to }) => to.startsWith(OUTER));
  assert.deepEqual(wrong, []);
});

test('base/ stands on nothing of this repository', () => {
  const wrong = sources('base')
    .flatMap(importsOf)
    .filter(({ to }) => !to.startsWith('node:') && !to.startsWith('base/'));
  assert.deepEqual(wrong, []);
});

test('nothing outside of cli/, test/ and scripts/ imports cli/', () => {
  const wrong = [...sources('compiler'), ...sources('runtime')]
    .flatMap(importsOf)
    .filter(({ to }) => to.startsWith('cli/'));
  assert.deepEqual(wrong, []);
});

/** The folder of a module, of a path inside one; else null. */
const moduleOf = (file: string): string | null => /^modules\/(\w+)\//.exec(file)?.[1] ?? null;

test('the core names modules in one file', () => {
  const core = ['base', 'schemas', 'compiler', 'runtime', 'cli', 'main'].flatMap(sources).flatMap(importsOf);
  const naming = core.filter(({ to }) => moduleOf(to) !== null).map(({ file }) => file);
  assert.deepEqual([...new Set(naming)], ['main/modules.ts']);
});

test('a module imports another one only through its door, and never the composition root', () => {
  const wrong = sources('modules')
    .flatMap(importsOf)
    .filter(({ file, to }) => {
      const other = moduleOf(to);
      const isOthers = other !== null && other !== moduleOf(file) && to !== `modules/${other}/module.ts`;
      return isOthers || to.startsWith('main/');
    });
  assert.deepEqual(wrong, []);
});

test('what runs never imports what compiles or what commands do, and what compiles never what runs, in modules too', () => {
  const stageOf = (path: string): string => path.replace(/^modules\/\w+\//, '').split('/', 1)[0] ?? '';
  const never: Readonly<Record<string, readonly string[]>> = {
    runtime: ['compiler', 'cli', 'ajv', 'yaml'],
    compiler: ['runtime', 'cli'],
  };
  const wrong = sources('modules')
    .flatMap(importsOf)
    .filter(({ file, to }) => never[stageOf(file)]?.includes(stageOf(to)) === true);
  assert.deepEqual(wrong, []);
});

test('the SQLite driver is named by one file', () => {
  const named = ['runtime', 'cli', 'modules', 'bench']
    .flatMap(sources)
    .flatMap(importsOf)
    .filter(({ to }) => to === '@photostructure/sqlite')
    .map(({ file }) => file);
  assert.deepEqual(named, ['runtime/store/sqlite/driver.ts']);
});

test('the PostgreSQL driver is named by one file', () => {
  const named = ['runtime', 'cli', 'modules', 'bench']
    .flatMap(sources)
    .flatMap(importsOf)
    .filter(({ to }) => to === 'pg')
    .map(({ file }) => file);
  assert.deepEqual([...new Set(named)], ['modules/cluster/runtime/postgres/driver.ts']);
});

/** A driver takes tens of milliseconds to load, and a linter runs at every commit. */
test('commands that only compile load no driver', () => {
  const workbench = ['docs', 'explain'].map((command) => `modules/workbench/cli/${command}.ts`);
  for (const command of ['cli/lint.ts', 'modules/setup/cli/schema.ts', ...workbench]) {
    const reached = loadedBy(command);
    const drivers = ['@photostructure/sqlite', 'pg', 'undici', 'nodemailer'].filter((name) => reached.has(name));
    assert.deepEqual(drivers, [], command);
  }
});

/** What a file imports, and what these files import in turn, as far as it is loaded with the file. */
function loadedBy(file: string): ReadonlySet<string> {
  const reached = new Set([file]);
  // A set takes in what is added while it is walked.
  for (const at of reached) {
    if (!at.endsWith('.ts')) continue;
    const text = readFileSync(join(ROOT, at), 'utf8');
    const lines = text.matchAll(/^(?:import|export) (?!type )(?:[^;'"]*? from )?'([^']+)';$/gm);
    for (const [, to = ''] of lines) reached.add(to.startsWith('.') ? relative(ROOT, join(ROOT, dirname(at), to)) : to);
  }
  return reached;
}

test('the door of a module loads nothing of what it adds', () => {
  for (const module of readdirSync(join(ROOT, 'modules'))) {
    const parts = [...loadedBy(`modules/${module}/module.ts`)].filter((file) =>
      /^modules\/\w+\/(?:compiler|runtime|cli)\/(?!built\/)/.test(file),
    );
    assert.deepEqual(parts, []);
  }
});

/** What a glob means; its expressions backtrack, so they are only read. */
test('picomatch is named by one file', () => {
  const named = [...sources('compiler'), ...sources('runtime'), ...sources('cli'), ...sources('scripts')]
    .flatMap(importsOf)
    .filter(({ to }) => to === 'picomatch')
    .map(({ file }) => file);
  assert.deepEqual(named, ['compiler/globs/linear-glob.ts']);
});

test('no file is reached through a folder: imports name the file they mean', () => {
  const all = [...sources('compiler'), ...sources('runtime'), ...sources('cli')];
  const wrong = all
    .flatMap(importsOf)
    .filter(({ file, to }) => /(?:^|\/)index\.ts$/.test(to) && !file.endsWith('index.ts'));
  assert.deepEqual(wrong, []);
});

/** The way from a node back to itself; null: there is none. */
function circleFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | null {
  const from = new Map<string, string>();
  const queue = [start];
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    for (const to of next.get(node) ?? []) {
      if (to === start) {
        const way = [node];
        for (let back = from.get(node); back !== undefined; back = from.get(back)) way.unshift(back);
        return [...way, start];
      }
      if (from.has(to)) continue;
      from.set(to, node);
      queue.push(to);
    }
  }
  return null;
}

/** Each circle once: from the first of its nodes. */
function circlesIn(next: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  return [...next.keys()].flatMap((node) => {
    const circle = circleFrom(node, next);
    return circle === null || circle.some((other) => other < node) ? [] : [circle.join(' → ')];
  });
}

function addTo(next: Map<string, Set<string>>, from: string, to: string): void {
  if (from !== to) next.set(from, (next.get(from) ?? new Set()).add(to));
}

/** Types and what is loaded later (`import()`) count: a reader of a file reads those as well. */
const OWN_IMPORTS = ['base', 'schemas', 'compiler', 'runtime', 'cli', 'modules', 'main', 'scripts', 'bench']
  .flatMap(sources)
  .flatMap(importsOf)
  .filter(({ to }) => /\.tsx?$/.test(to));

test('no file imports itself by way of others', () => {
  const next = new Map<string, Set<string>>();
  for (const { file, to } of OWN_IMPORTS) addTo(next, file, to);
  assert.deepEqual(circlesIn(next), []);
});

/** What an import joins in each folder that holds both files: the two members of the folder, files or folders themselves. */
function* joinedBy({ file, to }: Import): Iterable<readonly [folder: string, from: string, to: string]> {
  const [a, b] = [file.split('/'), to.split('/')];
  for (let depth = 0; a.slice(0, depth).join('/') === b.slice(0, depth).join('/'); depth += 1) {
    if (depth >= Math.min(a.length, b.length)) return;
    yield [a.slice(0, depth).join('/'), a.slice(0, depth + 1).join('/'), b.slice(0, depth + 1).join('/')];
  }
}

test('the members of each folder, files and folders, import one way', () => {
  const folders = new Map<string, Map<string, Set<string>>>();
  for (const edge of OWN_IMPORTS) {
    for (const [folder, from, to] of joinedBy(edge)) {
      const members = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, members);
      addTo(members, from, to);
    }
  }
  assert.deepEqual([...folders.values()].flatMap(circlesIn), []);
});

test('runtime/ has no loose files but its entry and the door of modules', () => {
  const loose = sources('runtime').filter((file) => file.split('/').length === 2);
  assert.deepEqual(loose.sort(), ['runtime/index.ts', 'runtime/module.ts']);
});

/** One word, one thing: docs/glossary.md has the words. */
test('a name is exported by one file', () => {
  const files = new Map<string, string[]>();
  const declared = /^export (?:declare |abstract |async )*(?:const|function\*?|class|interface|type) (\w+)/gm;
  for (const file of ['base', 'compiler', 'runtime', 'cli', 'modules']
    .flatMap(sources)
    // Components of pages have the names of what they show.
    .filter((file) => file.endsWith('.ts') && !file.includes('/built/'))
    .concat('schemas/generated/types.ts')) {
    for (const [, name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(declared)) {
      files.set(name, [...new Set([...(files.get(name) ?? []), file])]);
    }
  }
  assert.deepEqual(
    [...files].filter(([, all]) => all.length > 1),
    [],
  );
});

/** Interfaces and object types of a file with the names of their members, by the indentation that the formatter gives them. */
function* shapesIn(text: string): Iterable<readonly [name: string, members: readonly string[]]> {
  const shapes = /^( *)(?:export )?(?:interface|type) (\w+)[^;\n]*\{\n([\s\S]*?)\n\1\}/gm;
  for (const [, indent = '', name = '', body = ''] of text.matchAll(shapes)) {
    const member = new RegExp(`^${indent}  (?:readonly )?(\\w+)\\??[:(<]`, 'gm');
    yield [name, [...body.matchAll(member)].map(([, key = '']) => key)];
  }
}

/** What is stored or sent is snake_case, all else camelCase; what holds both belongs to neither. */
test('no interface mixes snake_case and camelCase', () => {
  const mixed = ['base', 'compiler', 'runtime', 'cli', 'modules', 'main']
    .flatMap(sources)
    .flatMap((file) =>
      [...shapesIn(readFileSync(join(ROOT, file), 'utf8'))]
        .filter(
          ([, members]) =>
            members.some((key) => /[a-z]_[a-z]/.test(key)) && members.some((key) => /[a-z][A-Z]/.test(key)),
        )
        .map(([name]) => `${file}: ${name}`),
    );
  assert.deepEqual(mixed, []);
});
