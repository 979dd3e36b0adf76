/** The compiler's parts of the program's modules. */
import type { CompilerPart } from '../../compiler/module.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import type { ViewRule } from '../../compiler/views/views.ts';
import type { Module } from '../base/module.ts';

type Modules = readonly Pick<Module<never>, 'compiler'>[];

/** Loads them: rules, and what is known of payloads. */
export const loadCompilerParts = (modules: Modules): Promise<readonly CompilerPart[]> =>
  Promise.all(modules.flatMap(({ compiler }) => compiler?.() ?? []));

/** The rules that subscriptions and jobs are checked by outside a compile. */
export const loadRules = async (modules: Modules): Promise<readonly ViewRule[]> =>
  rulesInForce(await loadCompilerParts(modules));
