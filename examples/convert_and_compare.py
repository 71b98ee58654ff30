"""Writes a robot in four formats, reads each back, and says what a format lost or somebody changed.

python examples/convert_and_compare.py [PICTURE.png]

Needs the extra `mujoco` (`pip install "cardan[mujoco]"`), which writes MJCF.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import cardan


def main(picture: str) -> None:
    """Draw two robots that should be one, with the joint that differs."""
    robot = cardan.robots.quadruped()
    model = robot.model()
    q = model.random_configuration(100, seed=0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # writers warn of what their format cannot say
        for ending in ("json", "urdf", "sdf", "mjcf"):
            file = Path(folder) / f"quadruped.{ending}"
            cardan.save(robot, file)
            back = cardan.load(file)
            change = np.abs(cardan.mass_matrix(back, q) - cardan.mass_matrix(model, q)).max()
            differences = len(cardan.compare(robot, file).differences)
            print(
                f"{ending}: {differences} differences, mass matrices differ by {change:.0e} kg m^2"
            )

        # Somebody turns an axis the other way round: compare says where, and why.
        knee = "front_left_shank_joint"
        turned = cardan.joints.Revolute((0, -1, 0))
        cardan.save(
            robot.replace_joint(knee, turned).mechanism, file := Path(folder) / "other.urdf"
        )
        print(cardan.compare(robot, file))
        wrong = cardan.load(file)

    q = np.tile([0.0, 0.7, -1.4], 4)
    figure = plt.figure(figsize=(11.0, 5.0), layout="constrained")
    for k, shown in enumerate((model, wrong)):
        ax = cardan.plot(shown, q, figure.add_subplot(1, 2, k + 1, projection="3d"))
        ax.set_title(("as it was", "with the axis of a knee turned around")[k])
        ax.view_init(elev=15.0, azim=35.0)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "convert_and_compare.png")
