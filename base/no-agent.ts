/** The value of `agent:` with which the prompt itself is the message. */
export const NO_AGENT = 'none';
