import { type FunctionComponent, h, type VNode } from 'preact';
import { useRef } from 'preact/hooks';

/**
 * Returns a component that is redrawn only if `isSame` returns false for its properties. It corresponds to `memo` of
 * preact/compat, which would add hooks to the creation of every element.
 */
export function memo<Props extends object>(
  draw: FunctionComponent<Props>,
  isSame: (before: Props, after: Props) => boolean = hasSameValues,
): FunctionComponent<Props> {
  return function Memo(props) {
    const last = useRef<{ readonly props: Props; readonly node: VNode<Props> } | undefined>(undefined);
    // Preact skips a subtree if its node is the same object as before.
    if (last.current === undefined || !isSame(last.current.props, props)) {
      last.current = { props, node: h(draw, props) };
    }
    return last.current.node;
  };
}

function hasSameValues<Props extends object>(before: Props, after: Props): boolean {
  const names = Object.keys(after) as (keyof Props)[];
  return names.length === Object.keys(before).length && names.every((name) => before[name] === after[name]);
}
