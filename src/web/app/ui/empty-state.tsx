import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.js';

interface EmptyStateProps {
  readonly icon: IconName;
  /** Why there is nothing to show. */
  readonly text: ComponentChildren;
  /** A link or a button that leads on. */
  readonly next?: ComponentChildren;
}

/** Takes the place of an empty list. */
export function EmptyState({ icon, text, next }: EmptyStateProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{text}</p>
      {next && <p class="row wrapping">{next}</p>}
    </div>
  );
}
