import { useState } from 'preact/hooks';
import type { components } from '../../../generated/secrets/client.js';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';
import { ActionButton } from '../shell/action-button.js';

type Verification = components['schemas']['AuditLogVerification'];

/** What was last seen of the chain, kept in this browser, so that a log made anew is noticed. */
const KEPT_AS = 'trellis-audit-head';

/** Has the whole chain checked, and against what this browser saw of it before. */
export function VerifyAudit() {
  const [said, setSaid] = useState('');
  const verify = async (): Promise<void> => {
    const query = readKept();
    const verified = requireAnswer(await secrets.GET('/audit-log/verify', { params: { query } }));
    const { intact, entries, head } = verified;
    if (intact && head !== undefined) localStorage.setItem(KEPT_AS, JSON.stringify({ entries, head }));
    setSaid(describe(verified));
  };
  return (
    <p>
      <ActionButton onAct={verify}>Verify the chain</ActionButton> <span role="status">{said}</span>
    </p>
  );
}

function describe({ intact, entries, first_broken_id: id, reason = 'changed' }: Verification): string {
  if (intact) return `All ${entries} entries are as they were written.`;
  return `The chain is broken: entry ${id} ${BROKEN[reason]}.`;
}

const BROKEN = {
  added: 'was added behind the end of the log',
  changed: 'is not as it was written',
  missing: 'is missing, or is not the one that this browser saw before',
};

function readKept(): { entries?: number; head?: string } {
  try {
    return JSON.parse(localStorage.getItem(KEPT_AS) ?? '{}') as { entries?: number; head?: string };
  } catch {
    return {};
  }
}
