/** What a module adds to the compiler. */
import type { ViewRule } from './rules/support/view-rule.ts';

/** One module's part of the compiler; loaded before a compile. */
export interface CompilerPart {
  /** Rules beside the core's. */
  readonly rules: readonly ViewRule[];
}
