/** Loads the compiler parts of the modules. */
import type { CompilerPart } from '../../compiler/module.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import type { ViewRule } from '../../compiler/views/views.ts';
import type { Module } from '../base/module.ts';

type Modules = readonly Pick<Module<never>, 'compiler'>[];

/** Rules and payload shapes. */
export const loadCompilerParts = (modules: Modules): Promise<readonly CompilerPart[]> =>
  Promise.all(modules.flatMap(({ compiler }) => compiler?.() ?? []));

/** The rules for subscriptions and jobs outside a compile. */
export const loadRules = async (modules: Modules): Promise<readonly ViewRule[]> =>
  rulesInForce(await loadCompilerParts(modules));
