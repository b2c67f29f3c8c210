import { Loaded } from '../../shell/loaded.js';
import { useResource } from '../../shell/use-resource.js';
import { VaultFrame } from '../vault-frame.js';
import { KnownIdentity } from './known-identity.js';
import { NewIdentity } from './new-identity.js';
import { loadOwnerKeys } from './owner-keys.js';

export function IdentityPage() {
  const keys = useResource(loadOwnerKeys);
  return (
    <VaultFrame title="My key">
      <Loaded from={keys}>
        {(known) =>
          known.publicKey === undefined ? (
            <NewIdentity passkeys={known.passkeys} onDone={keys.reload} />
          ) : (
            <KnownIdentity keys={known} publicKey={known.publicKey} onChange={keys.reload} />
          )
        }
      </Loaded>
    </VaultFrame>
  );
}
