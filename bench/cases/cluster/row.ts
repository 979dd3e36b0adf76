/** A row of the table of the cluster case. */
export type ClusterRow = readonly [name: string, figure: string, beside: string, ratio: string, goal: string];

export const num = (value: number): string => value.toFixed(0);
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
