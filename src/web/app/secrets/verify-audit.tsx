import { useState } from 'preact/hooks';
import type { components } from '../../../generated/secrets/client.js';
import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';
import { ActionButton } from '../ui/action-button.js';

type Verification = components['schemas']['AuditLogVerification'];

/** Stores the last verified head of the hash chain in this browser, to detect a log that was rebuilt. */
const STORAGE_KEY = 'trellis-audit-head';

/** A button that verifies the whole hash chain, also against the head that this browser verified before. */
export function VerifyAudit() {
  const [result, setResult] = useState('');
  const verify = async (): Promise<void> => {
    const query = readVerifiedHead();
    const verified = requireData(await secretsClient.GET('/audit-log/verify', { params: { query } }));
    const { intact, entries, head } = verified;
    if (intact && head !== undefined) localStorage.setItem(STORAGE_KEY, JSON.stringify({ entries, head }));
    setResult(describe(verified));
  };
  return (
    <p>
      <ActionButton onAct={verify}>Verify log</ActionButton> <span role="status">{result}</span>
    </p>
  );
}

function describe({ intact, entries, first_broken_id: id, reason = 'changed' }: Verification): string {
  if (intact) return `All ${entries} entries are unchanged.`;
  return `The log was altered: entry ${id} ${ALTERATIONS[reason]}.`;
}

const ALTERATIONS = {
  added: 'was added after the end of the log',
  changed: 'was changed',
  missing: 'is missing, or differs from the one that this browser verified before',
};

function readVerifiedHead(): { entries?: number; head?: string } {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') as { entries?: number; head?: string };
  } catch {
    return {};
  }
}
