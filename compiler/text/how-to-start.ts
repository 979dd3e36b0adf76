/** Advice for a folder without a config. */
export const HOW_TO_START = '`hookwright init` writes one';
