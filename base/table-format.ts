/** The layout of a compiled table: the compiler writes it, and the runtime serves no other. */
export const TABLE_FORMAT = 1;
