/** The door of a module: a plain object that says what it adds to the core. `main/modules.ts` lists them. */
import type { BaseContext, CommandClass } from 'clipanion';
import type { CompilerPart } from '../../compiler/module.ts';
import type { RuntimePart } from '../../runtime/module.ts';

/** A command in the list: enough to find it and print its line without loading its code. */
export interface CommandEntry<Context extends BaseContext> {
  /** The words after `hookwright`. */
  readonly path: string;
  /** Its line in `hookwright --help`: the class's `usage.description`. */
  readonly summary: string;
  /** For programs: not shown in lists of commands. */
  readonly hidden?: boolean;
  readonly load: () => Promise<CommandClass<Context>>;
}

/**
 * Every member is required, so that a new kind of part does not compile until each module says whether it has one.
 * `Context` is what commands receive (context.ts, which has the modules in it).
 */
export interface Module<Context extends BaseContext> {
  /** The name of its folder. */
  readonly name: string;
  /** What users get for it, in one sentence. */
  readonly summary: string;
  /** Each is loaded when it runs. */
  readonly commands: readonly CommandEntry<Context>[];
  readonly compiler: (() => Promise<CompilerPart>) | null;
  readonly runtime: RuntimePart | null;
}
