"""cardan against Pinocchio: the largest relative difference of each quantity on one robot.

`python tests/oracles/compare_pin.py` prints the table over all robots of example-robot-data.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import cardan

FRAMES = 3  # frames compared on each robot
REFERENCES = {"LOCAL": ("frame", "frame"), "LOCAL_WORLD_ALIGNED": ("frame", "world"), "WORLD": ("world", "world")}


class Pair:
    """One robot in both libraries, with the permutation between their layouts."""

    def __init__(self, model, pin_model, names):
        import pinocchio as pin

        self.pin, self.ours, self.theirs, self.data = pin, model, pin_model, pin_model.createData()
        self.iq, self.iv = np.empty(pin_model.nq, dtype=int), np.empty(pin_model.nv, dtype=int)
        for name, joint in zip(list(pin_model.names)[1:], list(pin_model.joints)[1:], strict=True):
            if joint.nv:
                ours = names.get(name, name)
                self.iq[joint.idx_q : joint.idx_q + joint.nq] = np.arange(model.nq)[model.q_slice(ours)]
                self.iv[joint.idx_v : joint.idx_v + joint.nv] = np.arange(model.nv)[model.v_slice(ours)]

    @property
    def has_mimics(self):
        return self.ours.has_mimics

    def vector(self, theirs):
        """A vector along v, from their order to ours."""
        ours = np.empty(self.ours.nv)
        ours[self.iv] = theirs
        return ours

    def matrix(self, theirs):
        ours = np.empty((self.ours.nv, self.ours.nv))
        ours[np.ix_(self.iv, self.iv)] = theirs
        return ours

    def columns(self, theirs):
        ours = np.empty((6, self.ours.nv))
        ours[:, self.iv] = theirs
        return ours


def load_pair(file, floating):
    """The same URDF in both; None where Pinocchio refuses it."""
    import pinocchio as pin

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = cardan.load_mechanism(file, continuous="unit_complex")
    children = {c.child for c in mechanism.joints}
    if floating and all(body in children for body in (b.name for b in mechanism.bodies)):
        return None  # the root link is the world
    model = mechanism.model(base="floating" if floating else "fixed")
    try:
        arguments = (str(file), pin.JointModelFreeFlyer()) if floating else (str(file),)
        theirs = pin.buildModelFromUrdf(*arguments, mimic=True)
    except (ValueError, RuntimeError):
        return None  # a mimic joint that comes before its primary
    if theirs.nv == 0:
        return None  # Pinocchio's Jacobians crash without degrees of freedom
    return Pair(model, theirs, {"root_joint": "root"})


def random_states(pair, seed):
    """Configuration, velocity and acceleration, in our layout and in Pinocchio's."""
    rng, ours = np.random.default_rng(seed), pair.ours
    q, v, a = ours.random_configuration(seed=seed), rng.normal(size=ours.nv), rng.normal(size=ours.nv)
    q = np.where(np.isfinite(q), q, 0.0)
    return q, v, a, q[pair.iq], v[pair.iv], a[pair.iv]


def differences(pair, seed=0, frames=()):
    """The largest relative difference of each quantity at one random state."""
    pin, ours, model, data = pair.pin, pair.ours, pair.theirs, pair.data
    q, v, a, pq, pv, pa = random_states(pair, seed)
    found = {}

    def note(name, mine, theirs):
        scale = max(1.0, np.abs(theirs).max(initial=0.0))
        error = np.abs(np.asarray(mine) - theirs).max(initial=0.0) / scale
        found[name] = max(found.get(name, 0.0), float(error))

    pin.forwardKinematics(model, data, pq, pv, pa)
    pin.updateFramePlacements(model, data)
    pin.computeJointJacobians(model, data, pq)
    for mine, theirs in frames:
        frame = model.getFrameId(theirs)
        note("FK", cardan.frame_transform(ours, q, mine), data.oMf[frame].homogeneous)
        for name, (at, axes) in REFERENCES.items():
            reference, options = getattr(pin, name), {"at": at, "expressed_in": axes}
            J = pin.getFrameJacobian(model, data, frame, reference)
            note("Jacobian", cardan.jacobian(ours, q, mine, **options), pair.columns(J))
            twist = pin.getFrameVelocity(model, data, frame, reference).vector
            note("velocity", cardan.frame_velocity(ours, q, v, mine, **options), twist)
        acceleration = pin.getFrameAcceleration(model, data, frame, pin.LOCAL).vector
        note("acceleration", cardan.frame_acceleration(ours, q, v, a, mine, expressed_in="frame"), acceleration)
        classical = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED).vector
        note("acceleration", cardan.frame_acceleration(ours, q, v, a, mine), classical)
    tau = pair.vector(pin.rnea(model, data, pq, pv, pa))
    note("RNEA", cardan.inverse_dynamics(ours, q, v, a), tau)
    note("bias", cardan.bias_forces(ours, q, v), pair.vector(pin.nonLinearEffects(model, data, pq, pv)))
    note("gravity", cardan.gravity_forces(ours, q), pair.vector(pin.computeGeneralizedGravity(model, data, pq)))
    M = pin.crba(model, data, pq)
    M = np.triu(M) + np.triu(M, 1).T
    note("CRBA", cardan.mass_matrix(ours, q), pair.matrix(M))
    if not pair.has_mimics and np.diag(M).min(initial=1.0) > 0.0:
        # forward dynamics amplifies by the condition of M: compare what both accelerations weigh
        mine, theirs = cardan.forward_dynamics(ours, q, v, tau), pair.vector(pin.aba(model, data, pq, pv, tau[pair.iv]))
        note("ABA", mine, theirs)
        note("ABA, weighed", pair.matrix(M) @ mine, pair.matrix(M) @ theirs)
        note("M inverse, weighed", pair.matrix(M) @ cardan.mass_matrix_inverse(ours, q), np.eye(ours.nv))
        note("kinetic energy", cardan.kinetic_energy(ours, q, v), pin.computeKineticEnergy(model, data, pq, pv))
    _momenta(pair, note, q, v, a, pq, pv, pa)
    return found


def _momenta(pair, note, q, v, a, pq, pv, pa):
    """Pinocchio leaves out bodies fixed on the world; they are taken out of ours, too, before comparing."""
    pin, ours, model, data = pair.pin, pair.ours, pair.theirs, pair.data
    fixed = ours.world_inertia()
    mass = ours.mass - fixed.mass
    ours_com = cardan.center_of_mass(ours, q)
    com = (ours.mass * ours_com - np.array(fixed.first_moment)) / mass
    theirs = pin.centerOfMass(model, data, pq)
    note("CoM", com, theirs)
    pin.ccrba(model, data, pq, pv)

    def about_theirs(h):
        return np.concatenate([h[:3], h[3:] + np.cross(ours_com - theirs, h[:3], axisb=0, axisc=0)])

    note("centroidal momentum", about_theirs(cardan.centroidal_momentum(ours, q, v)), data.hg.vector)
    note("centroidal matrix", about_theirs(cardan.centroidal_momentum_matrix(ours, q)), pair.columns(data.Ag))
    pin.computeCentroidalMomentumTimeVariation(model, data, pq, pv, pa)
    note("centroidal rate", about_theirs(cardan.centroidal_momentum_rate(ours, q, v, a)), data.dhg.vector)
    potential = cardan.potential_energy(ours, q) + np.dot(ours.gravity, fixed.first_moment)
    if not pair.has_mimics:
        note("potential energy", potential, pin.computePotentialEnergy(model, data, pq))


def some_frames(pair):
    """A few bodies, first, middle and last, by their names in both."""
    names = pair.ours.body_names
    picked = sorted({0, len(names) // 2, len(names) - 1})
    return [(names[k], names[k]) for k in picked[:FRAMES] if pair.theirs.existBodyName(names[k])]


def main():
    from robots_data import short, urdf_files

    worst, count = {}, 0
    for file in urdf_files():
        for floating in (False, True):
            try:
                pair = load_pair(file, floating)
            except cardan.DescriptionError:
                continue
            if pair is None:
                continue
            count += 1
            for name, error in differences(pair, frames=some_frames(pair)).items():
                if error >= worst.get(name, (-1.0, ""))[0]:
                    worst[name] = error, f"{short(file)} {'floating' if floating else 'fixed'}"
    print(f"{count} models\n")
    for name, (error, where) in worst.items():
        print(f"{name:22s} {error:8.1e}   {where}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
