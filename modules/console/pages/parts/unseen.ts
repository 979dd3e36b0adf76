/**
 * What strangers write is shown by all views: characters that are not seen, or that change the order of others, are
 * shown by their numbers, as the command line does. It is done for every element that is made, so that no view can forget it.
 */
import type { VNode } from 'preact';
import { Fragment, options } from 'preact';
import { showUnseenInLines } from '../../../../base/text.ts';

interface Props {
  children?: unknown;
  [name: string]: unknown;
}

/** Attributes that people read. */
const READ = ['title', 'aria-label', 'placeholder'];

const before = options.vnode;
options.vnode = (vnode: VNode) => {
  const props = vnode.props as Props;
  if (typeof vnode.type === 'string' || vnode.type === Fragment) {
    if (props.children !== undefined) props.children = shown(props.children);
    for (const name of READ) if (typeof props[name] === 'string') props[name] = showUnseenInLines(props[name]);
  }
  before?.(vnode);
};

function shown(child: unknown): unknown {
  if (typeof child === 'string') return showUnseenInLines(child);
  return Array.isArray(child) ? child.map(shown) : child;
}
