/** `hookwright/runtime`. */
export * from '../runtime/index.ts';
