/** What to do where there is no config yet. */
export const HOW_TO_START = '`hookwright init` writes one';
