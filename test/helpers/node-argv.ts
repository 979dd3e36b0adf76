/** How a test starts another node process: with compiled JavaScript if the test is compiled, else from source. */
import { fileURLToPath } from 'node:url';

/** True if the tests are compiled. */
export const isBuilt = import.meta.url.endsWith('.js');

/** Options of node with which it can import this repository's modules. */
export const LOADER: readonly string[] = isBuilt ? [] : ['--import', import.meta.resolve('tsx')];

/** @param module path of the compiled module */
export const moduleUrl = (module: URL): string => (isBuilt ? module.href : module.href.replace(/\.js$/, '.ts'));

/** The argument vector that runs a module, given by its compiled path. */
export const nodeArgv = (module: URL): readonly string[] => [
  process.execPath,
  ...LOADER,
  fileURLToPath(moduleUrl(module)),
];
