"""Makes the README's film: `python docs/build_film.py` writes docs/images/walk.gif (extra `plot`, some ten seconds).

A quadruped that ships trots on flat ground. Drives at its joints follow a pattern, contacts carry it, and
`cardan.pictures.animate` draws what `rollout` recorded.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

import cardan

FILM = Path(__file__).parent / "images" / "walk.gif"
PERIOD, CYCLES = 0.4, 5  # s of a trot, and how many
STEP, EVERY = 0.005, 4  # s of a step of simulation, steps between two samples
HIP, THIGH, SHANK = 0.0, 0.75, -1.5  # rad: how it stands
SWING, LIFT = 0.25, 0.5  # rad: of the thighs to either side, of the shanks that are in the air
DOTS, RATE, COLOURS = 90.0, 25.0, 64  # pixels an inch, pictures a second; few colours are enough for plain shapes
MARGINS = (0.0, 0.19, 1.0, 0.78)  # left, top, right and bottom of what is kept, as parts of the picture


def trot(time: float) -> np.ndarray:
    """Return the angles that the drives follow [rad], (12,), leg by leg; diagonal legs move together."""
    phases = 2.0 * np.pi * time / PERIOD + np.array([0.0, np.pi, np.pi, 0.0])
    legs = [(HIP, THIGH - SWING * np.sin(s), SHANK - LIFT * max(np.cos(s), 0.0)) for s in phases]
    return np.ravel(legs)


def draw(path: Path) -> None:
    """Simulate the walk and write it as a film."""
    robot, _ = cardan.robots.quadruped().with_drives({"*": cardan.Drive(stiffness=150.0, damping=4.0)})
    world = robot.world(base="floating", ground=True)  # N m/rad and N m s/rad; the feet touch
    solver = cardan.solvers.Featherstone(world, dt=STEP)
    state, control = world.state(), world.control()
    state.q[:, 7:] = trot(0.0)
    cardan.simulation.stand(state)

    def follow(step: int, state: cardan.State) -> cardan.Control:
        control.position[:, 6:] = trot(step * STEP)
        return control

    found = solver.rollout(state, follow, steps=round(CYCLES * PERIOD / STEP), every=EVERY)
    print(f"from x = 0 to {found.q[-1, 0, 0]:.2f} m in {found.time[-1, 0]:.1f} s")
    cardan.pictures.animate(world, found, path=path, fps=RATE, title="", dpi=DOTS)


def compact(path: Path) -> list[Image.Image]:
    """Return the pictures of a film without their margins, in few colours."""
    with Image.open(path) as film:
        sizes = [round(part * size) for part, size in zip(MARGINS, film.size * 2, strict=True)]
        pictures = [frame.convert("RGB").crop(tuple(sizes)) for frame in ImageSequence.Iterator(film)]
    palette = pictures[0].quantize(COLOURS)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        draw(made := Path(folder, "walk.gif"))
        first, *rest = compact(made)
    first.save(FILM, save_all=True, append_images=rest, duration=round(1000.0 / RATE), loop=0, optimize=True)
    print(f"{FILM.name}: {1 + len(rest)} pictures, {FILM.stat().st_size / 1000:.0f} kB")
