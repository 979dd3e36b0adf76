/** Compiles the configs of the benches to tables, as `hookwright compile` does. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompileOutput } from '../../compiler/compile.ts';
import { compile } from '../../compiler/compile.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { loadShippedCatalog } from '../../compiler/source/load-catalog.ts';
import { compilerPart } from '../../modules/payloads/compiler/part.ts';
import { ROOT } from './build.ts';
import { PROMPT, SECRET } from './payloads.ts';

/** Loaded once, as in the program. */
const catalog = loadShippedCatalog(nodeFiles, join(ROOT, 'catalog'));

/** The folders of this run. */
const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder for the run, removed when the process ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-bench-'));
  folders.push(folder);
  return folder;
}

/** @throws Error with the first diagnostic when the config is rejected */
export function compileYaml(folder: string, yaml: string): CompileOutput {
  const config = join(folder, 'hookwright.yaml');
  writeFileSync(config, yaml);
  const { output, diagnostics } = compile({
    files: nodeFiles,
    cwd: folder,
    home: folder,
    configs: [config],
    env: { WEBHOOK_SECRET: SECRET, TELEGRAM_TOKEN: '1:token' },
    flags: {},
    catalog,
    jobs: [],
    modules: [compilerPart],
  });
  if (output === null) throw new Error(diagnostics[0]?.message ?? 'rejected without a diagnostic');
  return output;
}

/** Writes a table where a server finds it. @returns its path */
export function writeTable(folder: string, routesJson: string): string {
  const build = join(folder, 'build');
  mkdirSync(build, { recursive: true });
  const path = join(build, 'routes.json');
  writeFileSync(`${path}.new`, routesJson);
  renameSync(`${path}.new`, path);
  return path;
}

/** `agent` accepts; `filtered` filters out everything, in as many stages as a real route has. */
export const ROUTES = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    rate_limit: 1000000000
    routes:
      agent:
        events: [pull_request]
        filters:
          - field: action
            equals: opened
        prompt: "${PROMPT}"
      filtered:
        events: [pull_request]
        filters:
          - field: action
            in: [opened, reopened]
          - field: repository.full_name
            regex: ^absent/
        prompt: "${PROMPT}"
`;
