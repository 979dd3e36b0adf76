/** Whether a stream supports colours: NO_COLOR wins, then FORCE_COLOR; otherwise only terminals that can show them do. */
export function wantsColour(env: NodeJS.ProcessEnv, isTTY: boolean | undefined): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return isTTY === true && env.TERM !== 'dumb';
}
