/** The door of a module: a plain object that says what it adds to the core. `main/modules.ts` lists them. */
import type { CompilerPart } from '../../compiler/module.ts';
import type { RuntimePart } from '../../runtime/module.ts';
import type { CommandEntry } from './command.ts';

/**
 * Every member is required, so that a new kind of part does not compile until each module says whether it has one.
 * `Context` is what commands receive (context.ts, which has the modules in it).
 */
export interface Module<Context> {
  /** The name of its folder. */
  readonly name: string;
  /** What users get for it, in one sentence. */
  readonly summary: string;
  /** Each is loaded when it runs. */
  readonly commands: readonly CommandEntry<Context>[];
  readonly compiler: (() => Promise<CompilerPart>) | null;
  readonly runtime: RuntimePart | null;
}
