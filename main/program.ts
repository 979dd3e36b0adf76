/** Parts that the package adds to a service of an embedding program. */
import type { CliContext } from '../cli/base/context.ts';
import type { Module } from '../cli/base/module.ts';
import { Lazy } from '../runtime/platform/lazy.ts';
import type { ProgramOptions, ServiceOptions } from '../runtime/service/options.ts';

/** Compiles dynamic subscriptions. The compiler is loaded at the first one. */
export function programOf(
  modules: readonly Module<CliContext>[],
  options: Pick<ServiceOptions, 'home' | 'env'>,
): ProgramOptions {
  const lowerer = new Lazy(async () => {
    const { home, env = process.env } = options;
    return (await import('./compile.ts')).subscriptionLowerer(modules, { home, env });
  });
  return { lowerSubscriptions: async (...asked) => (await lowerer.use())(...asked) };
}
