/** `hookwright/compiler`. */
export * from '../compiler/index.ts';
