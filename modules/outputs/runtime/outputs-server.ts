/** The server of `hookwright outputs serve` as a program in one file, which agents start in their sandboxes. */
import { serveOutputs } from './serve-outputs.ts';

await serveOutputs(process.argv[2] ?? '');
